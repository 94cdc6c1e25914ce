import { isUnavailable } from '@toolyard/db/is-unavailable'
import { createFlights } from '@toolyard/invocations/flights'
import { readClock } from '../read-clock.ts'
import type { ScheduleDeps } from './fire-due.ts'
import { fireDue } from './fire-due.ts'
import type { Tick } from './tick.ts'

const flightsMax = 2
const toolsMax = 100

/**
 * What an alarm calls: `fireDue` for its tool. Alarms that come together share a transaction, because many schedules
 * have a tick at the same full hour. Resolves with what was written for the tool, once that is committed.
 */
export function createRinger(
  deps: ScheduleDeps,
  readNow: () => Promise<Date> = () => readClock(deps.pool),
): (tool: string) => Promise<Tick[]> {
  return createFlights<string, Tick[]>({
    laneOf: (tool) => tool,
    async send(tools) {
      const byTool = Map.groupBy(await fireDue(deps, tools, await readNow()), ({ tool }) => tool)
      return tools.map((tool) => {
        const ticks = byTool.get(tool) ?? []
        // To the first of two alarms of one tool: nobody shall count them twice.
        byTool.delete(tool)
        return ticks
      })
    },
    isItemFault: (error) => !isUnavailable(error),
    flightsMax,
    itemsMax: toolsMax,
  })
}
