import type { FinalStatus } from '@toolyard/contract/invocations'
import type { Failure, InvocationResult, ToolNotes } from './invocation.ts'
import { attemptsMax, infraFailuresMax } from './limits.ts'
import { rewardOf } from './reward.ts'

/** How an attempt ended, in the words of whoever ran it. */
export type AttemptOutcome =
  | { kind: 'succeeded'; result: InvocationResult; notes?: ToolNotes }
  /** The tool's failure, also when it ran into its own limits. `budgetRemaining`: what it said of its account. */
  | { kind: 'failed'; failure: Failure; budgetRemaining?: number }
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
      budgetRemaining: number | null
      notes?: ToolNotes
    }
  | { kind: 'again'; delayMs: number; fault: 'tool' | 'infrastructure' | 'none' }

const sandboxLost: Failure = {
  kind: 'sandbox_lost',
  class: 'platform',
  message: 'The sandbox was lost after the call had been handed over, and the tool may not be started twice',
}
export const cancelledFailure: Failure = {
  kind: 'cancelled',
  class: 'caller',
  message: 'The invocation was cancelled',
}
const handedBackTooOften: Failure = {
  kind: 'internal',
  class: 'platform',
  message: 'The invocation was handed back too often',
}

/** What becomes of an invocation whose attempt has ended: the one place where tries are counted. */
export function decideEnd(facts: AttemptFacts, outcome: AttemptOutcome, random: number): End {
  // Cancelling that was asked for in time wins over whatever came of the attempt, which may have been paid for.
  if (facts.cancelRequested) return close('cancelled', cancelledFailure, budgetOf(outcome))
  if (outcome.kind === 'succeeded') {
    return {
      kind: 'close',
      status: 'succeeded',
      result: outcome.result,
      failure: null,
      reward: rewardOf('succeeded', null),
      budgetRemaining: budgetOf(outcome),
      ...(outcome.notes === undefined ? {} : { notes: outcome.notes }),
    }
  }
  if (outcome.kind === 'failed') return afterFailure(facts, outcome, random)
  const isHandedOver = facts.isHandedOver || outcome.isHandedOver === true
  if (isHandedOver && !facts.rerun) return close('failed', sandboxLost)
  if (facts.attempts >= attemptsMax) return close('failed', handedBackTooOften)
  if (outcome.kind === 'stopped') return { kind: 'again', delayMs: 0, fault: 'none' }
  if (facts.infraFailures + 1 >= infraFailuresMax) return close('failed', outcome.failure)
  return { kind: 'again', delayMs: backoffMs(facts.infraFailures, random), fault: 'infrastructure' }
}

function afterFailure(
  facts: AttemptFacts,
  outcome: Extract<AttemptOutcome, { kind: 'failed' }>,
  random: number,
): End {
  const { failure } = outcome
  // The same payload would be too large again.
  const isWorthRetrying = failure.kind !== 'payload_too_large'
  if (isWorthRetrying && facts.rerun && facts.toolFailures < facts.retriesMax && facts.attempts < attemptsMax)
    return { kind: 'again', delayMs: backoffMs(facts.toolFailures, random), fault: 'tool' }
  return close(failure.kind === 'timeout' ? 'timed_out' : 'failed', failure, budgetOf(outcome))
}

function close(status: FinalStatus, failure: Failure, budgetRemaining: number | null = null): End {
  return { kind: 'close', status, result: null, failure, reward: rewardOf(status, failure), budgetRemaining }
}

function budgetOf(outcome: AttemptOutcome): number | null {
  if (outcome.kind === 'succeeded') return outcome.result.budget_remaining ?? null
  return outcome.kind === 'failed' ? (outcome.budgetRemaining ?? null) : null
}

const backoffFirstMs = 1_000
const backoffMaxMs = 60_000

/** 1, 2, 4 … 60 s, and up to a quarter more, so that what failed together does not come back together. */
export function backoffMs(failures: number, random: number): number {
  return Math.round(Math.min(backoffFirstMs * 2 ** failures, backoffMaxMs) * (1 + random / 4))
}
