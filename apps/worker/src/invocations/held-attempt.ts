import type { Hold } from '@toolyard/invocations/claim'
import type { StopReason } from './run-end.ts'

/** An attempt from its claim to its commit, as whoever runs it sees it. */
export type Held = {
  /** Aborts when the attempt must end; its sandbox with it. */
  readonly signal: AbortSignal
  stopReason: () => StopReason | undefined
  /** From here on a tool may run that is not started twice: a drain waits for it as long as it can. */
  protect: () => void
  /** By then it has ended, or this worker makes no progress. */
  expectEndWithin: (ms: number) => void
  /** Its run is over: what is left is to write the outcome, and nothing stops that. */
  settle: () => void
  release: () => void
}

/** The same, as whoever renews its lease sees it. */
export type HeldAttempt = Hold & {
  held: Omit<Held, 'release'>
  stop: (reason: StopReason) => void
  isProtected: () => boolean
  noteRenewal: (askedAtMs: number) => void
  /** For how long nothing has vouched for the lease. */
  silentMs: () => number
  isOverdue: () => boolean
}

export type HeldAttemptOptions = {
  /** By the monotonic clock, before the claim was asked for. */
  sinceMs: number
  now: () => number
  onLost: (reason: 'lost' | 'unrenewed') => void
}

export function createHeldAttempt(
  { id, token }: Hold,
  { sinceMs, now, onLost }: HeldAttemptOptions,
): HeldAttempt {
  const controller = new AbortController()
  let stopReason: StopReason | undefined
  let renewedAtMs = sinceMs
  let endsBeforeMs = Number.POSITIVE_INFINITY
  let isProtected = false
  let isSettled = false
  return {
    id,
    token,
    held: {
      signal: controller.signal,
      stopReason: () => stopReason,
      protect() {
        isProtected = true
      },
      expectEndWithin(ms) {
        endsBeforeMs = now() + ms
      },
      settle() {
        isSettled = true
      },
    },
    stop(reason) {
      if (isSettled || stopReason !== undefined) return
      stopReason = reason
      if (reason === 'lost' || reason === 'unrenewed') onLost(reason)
      controller.abort(reason)
    },
    isProtected: () => isProtected,
    noteRenewal(askedAtMs) {
      renewedAtMs = Math.max(renewedAtMs, askedAtMs)
    },
    silentMs: () => now() - renewedAtMs,
    isOverdue: () => !isSettled && now() >= endsBeforeMs,
  }
}
