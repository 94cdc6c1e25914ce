import { isUnavailable } from '@toolyard/db/is-unavailable'
import type { Deps } from './after-commit.ts'
import type { Within } from './close-rows.ts'
import type { FinishInput, Finished } from './finish.ts'
import { finishAll } from './finish.ts'
import { createFlights } from './flights.ts'

export type FinisherInput = FinishInput & { tool: string }

export type Finisher = {
  /** As `finish`: resolves when it is committed, throws when that is not certain. */
  finish: (input: FinisherInput) => Promise<Finished>
}

const flightsMax = 4
const batchMax = 100

/**
 * One per process: outcomes that arrive together become one transaction. The row of a tool that is called a lot, which
 * every outcome locks until its commit, is then locked once for all of them.
 */
export function createFinisher(deps: Deps, within?: Within): Finisher {
  const join = createFlights<FinisherInput, Finished>({
    laneOf: ({ tool }) => tool,
    send: (inputs) => finishAll(deps, inputs, { within }),
    // What is refused may be the words of one tool: the others are tried without it.
    isItemFault: (error) => !isUnavailable(error),
    flightsMax,
    itemsMax: batchMax,
  })
  return { finish: join }
}
