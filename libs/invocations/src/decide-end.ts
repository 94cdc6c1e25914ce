import type { Failure, FinalStatus, InvocationResult } from './invocation.ts'
import { attemptsMax, infraFailuresMax } from './limits.ts'
import { rewardOf } from './reward.ts'

/** How an attempt ended, in the words of whoever ran it. */
export type AttemptOutcome =
  | { kind: 'succeeded'; result: InvocationResult }
  /** The tool's failure, also when it ran into its own limits. */
  | { kind: 'failed'; failure: Failure }
  /** Ours: no engine, image gone, sandbox or worker lost. `isHandedOver`: the tool may have seen its payload. */
  | { kind: 'infrastructure'; failure: Failure; isHandedOver?: boolean }
  /** Given back by a worker that drains, or killed because cancelling was asked for. */
  | { kind: 'stopped'; isHandedOver?: boolean }

/** What the row says of the attempt. */
export type AttemptFacts = {
  cancelRequested: boolean
  attempts: number
  isHandedOver: boolean
  rerun: boolean
  retriesMax: number
  toolFailures: number
  infraFailures: number
}

export type End =
  | {
      kind: 'close'
      status: FinalStatus
      result: InvocationResult | null
      failure: Failure | null
      reward: number | null
    }
  | { kind: 'again'; delayMs: number; fault: 'tool' | 'infrastructure' | 'none' }

const sandboxLost: Failure = {
  kind: 'sandbox_lost',
  class: 'platform',
  message: 'The sandbox was lost after the call had been handed over, and the tool may not be started twice',
}
const cancelled: Failure = { kind: 'cancelled', class: 'caller', message: 'The invocation was cancelled' }
const handedBackTooOften: Failure = {
  kind: 'internal',
  class: 'platform',
  message: 'The invocation was handed back too often',
}

/** What becomes of an invocation whose attempt has ended: the one place where tries are counted. */
export function decideEnd(facts: AttemptFacts, outcome: AttemptOutcome, random: number): End {
  // Cancelling that was asked for in time wins over whatever came of the attempt.
  if (facts.cancelRequested) return close('cancelled', cancelled)
  if (outcome.kind === 'succeeded') {
    return {
      kind: 'close',
      status: 'succeeded',
      result: outcome.result,
      failure: null,
      reward: rewardOf('succeeded', null),
    }
  }
  if (outcome.kind === 'failed') return afterFailure(facts, outcome.failure, random)
  const isHandedOver = facts.isHandedOver || outcome.isHandedOver === true
  if (isHandedOver && !facts.rerun) return close('failed', sandboxLost)
  if (facts.attempts >= attemptsMax) return close('failed', handedBackTooOften)
  if (outcome.kind === 'stopped') return { kind: 'again', delayMs: 0, fault: 'none' }
  if (facts.infraFailures + 1 >= infraFailuresMax) return close('failed', outcome.failure)
  return { kind: 'again', delayMs: backoffMs(facts.infraFailures, random), fault: 'infrastructure' }
}

function afterFailure(facts: AttemptFacts, failure: Failure, random: number): End {
  // The same payload would be too large again.
  const isWorthRetrying = failure.kind !== 'payload_too_large'
  if (isWorthRetrying && facts.rerun && facts.toolFailures < facts.retriesMax && facts.attempts < attemptsMax)
    return { kind: 'again', delayMs: backoffMs(facts.toolFailures, random), fault: 'tool' }
  return close(failure.kind === 'timeout' ? 'timed_out' : 'failed', failure)
}

function close(status: FinalStatus, failure: Failure): End {
  return { kind: 'close', status, result: null, failure, reward: rewardOf(status, failure) }
}

const backoffFirstMs = 1_000
const backoffMaxMs = 60_000

/** 1, 2, 4 … 60 s, and up to a quarter more, so that what failed together does not come back together. */
export function backoffMs(failures: number, random: number): number {
  return Math.round(Math.min(backoffFirstMs * 2 ** failures, backoffMaxMs) * (1 + random / 4))
}
