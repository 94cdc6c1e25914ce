import { setTimeout as delay } from 'node:timers/promises'
import { isUnavailable } from '@toolyard/db/is-unavailable'
import type { Finished } from '@toolyard/invocations/finish'
import type { FinisherInput } from '@toolyard/invocations/finisher'
import type { Logger } from '@toolyard/log/logger'

export type FinishOptions = {
  /** One try: see the finisher of libs/invocations. */
  finish: (input: FinisherInput) => Promise<Finished>
  /** Aborts when there is no time left: the row is then taken back by others. */
  signal: AbortSignal
  log: Pick<Logger, 'warn' | 'error'>
  onRetry: () => void
  firstPauseMs?: number
}

const firstPauseDefaultMs = 100
const pauseMaxMs = 5_000
// A database that is away is waited for. One that refuses the statement will refuse it again: after so many times it
// is told no more than that the attempt ended, and after as many again nothing.
const refusalsMax = 5

/**
 * Tries until the outcome is committed or the token is lost. What is kept meanwhile is one outcome for each slot of the
 * worker, because whoever waits here keeps its slot.
 */
export async function finishUntilCommitted(
  input: FinisherInput,
  options: FinishOptions,
): Promise<Finished | { kind: 'given_up' }> {
  const { finish, signal, log, onRetry, firstPauseMs = firstPauseDefaultMs } = options
  const { id } = input.hold
  let refusals = 0
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    try {
      return await finish(refusals < refusalsMax ? input : withoutWords(input))
    } catch (error) {
      if (pauseMs === firstPauseMs) log.warn('an outcome is not committed yet', { invocation: id, error })
      const isRefused = !isUnavailable(error)
      if (isRefused) refusals += 1
      if (isRefused && refusals === refusalsMax)
        log.error('an outcome cannot be stored', { invocation: id, error })
      if (refusals === 2 * refusalsMax) return { kind: 'given_up' }
    }
    if (signal.aborted) return { kind: 'given_up' }
    onRetry()
    await delay(pauseMs, undefined, { signal }).catch(() => {})
  }
}

/** What the tool wrote is what a database may refuse. That it ended is said all the same. */
function withoutWords({ hold, tool }: FinisherInput): FinisherInput {
  const failure = { kind: 'internal', class: 'platform', message: 'The outcome could not be stored' } as const
  return { hold, tool, outcome: { kind: 'failed', failure } }
}
