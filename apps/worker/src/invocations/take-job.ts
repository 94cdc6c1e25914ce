import { isUnavailable } from '@toolyard/db/is-unavailable'
import type { Deps } from '@toolyard/invocations/after-commit'
import type { Attempt, Claim, Worker } from '@toolyard/invocations/claim'
import { claim } from '@toolyard/invocations/claim'
import type { NoClaim } from '@toolyard/invocations/explain-wait'
import type { Logger } from '@toolyard/log/logger'
import type { Handled, JobHandler } from '@toolyard/queue/consume'

export type JobDeps = {
  deps: Deps
  /** Undefined while this worker has no engine. */
  worker: () => Worker | undefined
  /** Ends when the attempt is over, committed, and its sandbox gone. Never throws. */
  run: (attempt: Attempt, sinceMs: number) => Promise<void>
  log: Pick<Logger, 'warn'>
}

// For what may be better in a moment, here or elsewhere.
const elsewhereMs = 1_000

const done: Handled = { done: true }

/** What becomes of one job of the queue. The row decides; the job only says which. */
export function createTakeJob({ deps, worker, run, log }: JobDeps): JobHandler<'invocations'> {
  return async (job) => {
    const here = worker()
    if (here === undefined) return { again: { delayMs: elsewhereMs } }
    const sinceMs = performance.now()
    let claimed: Claim
    try {
      claimed = await claim(deps, here, job)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      // Where the claim was committed and its answer lost, the lease runs out and the row is taken back.
      log.warn('an invocation could not be claimed', { invocation: job.invocationId, error })
      return { again: { delayMs: elsewhereMs } }
    }
    if (claimed.kind !== 'claimed') return answerTo(claimed)
    await run(claimed.attempt, sinceMs)
    return done
  }
}

/** Where nothing is claimed: whether this job has to come back, or the row is somebody else's to bring back. */
export function answerTo(answer: NoClaim): Handled {
  if (answer.kind === 'not_claimable') return done
  return 'againMs' in answer ? { again: { delayMs: answer.againMs } } : done
}
