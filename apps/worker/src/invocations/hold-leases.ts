import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '@toolyard/db/pool'
import type { AnnouncedEvent } from '@toolyard/invocations/announce'
import type { Hold, Worker } from '@toolyard/invocations/claim'
import type { Renewal } from '@toolyard/invocations/renew-leases'
import { renewLeases } from '@toolyard/invocations/renew-leases'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { Part } from '@toolyard/service/part'
import { repeat } from '@toolyard/service/repeat'
import type { Held, HeldAttempt } from './held-attempt.ts'
import { createHeldAttempt } from './held-attempt.ts'

// What this worker holds, from its claim to its commit. libs/invocations/src/limits.ts works out why a sandbox is dead
// before its row is taken back (I5); this keeps the worker's side of it:
// L1 the silence of a hold is counted from before its claim or renewal was asked for, by the monotonic clock.
// L2 a hold that was silent for 25 s is stopped, whatever the database does meanwhile.
// L3 a hold whose run is over is renewed until its outcome is committed, and nothing stops it any more.

export type WorkingWorker = Worker & { slots: number }

export type Leases = {
  /** `sinceMs`: by the monotonic clock, before the claim was asked for. */
  hold: (attempt: Hold, sinceMs: number) => Held
  /** Registers the slots of this worker, renews what it holds, learns what it has lost. */
  renew: () => Promise<void>
  /** Stops what is still running. `unprotected`: what may be started again elsewhere. */
  stop: (which: 'unprotected' | 'all') => void
  count: () => number
  part: () => Part
  close: () => Promise<void>
}

export type LeaseOptions = {
  pool: Pool
  /** Undefined while this worker has no engine. */
  worker: () => WorkingWorker | undefined
  watcher: Pick<Watcher, 'watch'>
  onLost: (reason: 'lost' | 'unrenewed') => void
  onFailure: (error: unknown) => void
  now?: () => number
  everyMs?: number
  silentMs?: number
}

const everyDefaultMs = 5_000
// A connection may be dead without saying so: the next turn then takes another.
const answerMs = 5_000
const retryMs = 1_000
const checkMs = 500
// L2: with the check that comes half a second later at most, 25 s.
const silentDefaultMs = 24_500
// Two turns missed.
const worryingShare = 0.5

export function holdLeases(options: LeaseOptions): Leases {
  const { pool, worker, watcher, onLost, onFailure } = options
  const { everyMs = everyDefaultMs, silentMs = silentDefaultMs } = options
  const now = options.now ?? (() => performance.now())
  const attempts = new Map<string, HeldAttempt>()
  let lastWorker: WorkingWorker | undefined
  let isStopping = false

  async function renew(): Promise<void> {
    const here = worker() ?? (attempts.size > 0 ? atRest(lastWorker) : undefined)
    if (here === undefined) return
    lastWorker = here
    const askedAtMs = now()
    const asked = [...attempts.values()]
    const holds = asked.map(({ id, token }) => ({ id, token }))
    // An answer that comes late counts all the same.
    await withinAnswerTime(
      renewLeases(pool, here, holds).then((renewal) => applyRenewal(asked, askedAtMs, renewal)),
    )
  }

  function hold(attempt: Hold, sinceMs: number): Held {
    const { id } = attempt
    const one = createHeldAttempt(attempt, { sinceMs, now, onLost })
    // A row that is claimed anew was lost before. Renewals tell of ids, so there is one hold for each.
    attempts.get(id)?.stop('lost')
    attempts.set(id, one)
    const hear = (event: AnnouncedEvent) => {
      if (event === 'cancel_requested') one.stop('cancel')
    }
    // The handover asks the row once more.
    const unwatch = watcher.watch(id, hear, 'known')
    // Claimed while the others were being stopped.
    if (isStopping) one.stop('drain')
    const release = () => {
      unwatch()
      if (attempts.get(id) === one) attempts.delete(id)
    }
    return { ...one.held, release }
  }

  const renewing = repeat({ everyMs, retryMs: Math.min(retryMs, everyMs), work: renew, onFailure })
  const checking = setInterval(
    () => {
      for (const one of attempts.values()) if (one.silentMs() >= silentMs) one.stop('unrenewed')
    },
    Math.min(checkMs, silentMs / 4),
  )
  return {
    hold,
    renew,
    stop(which) {
      isStopping = true
      for (const one of attempts.values()) if (which === 'all' || !one.isProtected()) one.stop('drain')
    },
    count: () => attempts.size,
    part: () => describe([...attempts.values()], silentMs * worryingShare),
    async close() {
      clearInterval(checking)
      await renewing.stop()
    },
  }
}

function applyRenewal(
  asked: readonly HeldAttempt[],
  askedAtMs: number,
  { lost, cancelRequested }: Renewal,
): void {
  const lostIds = new Set(lost)
  const cancelledIds = new Set(cancelRequested)
  for (const one of asked) {
    if (lostIds.has(one.id)) one.stop('lost')
    else one.noteRenewal(askedAtMs)
    if (cancelledIds.has(one.id)) one.stop('cancel')
  }
}

/** What it still holds is renewed; its slots count for nothing while there is no engine. */
const atRest = (last: WorkingWorker | undefined) => (last === undefined ? undefined : { ...last, slots: 0 })

async function withinAnswerTime(work: Promise<void>): Promise<void> {
  const timer = new AbortController()
  const timeout = delay(answerMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
  // The loser may still fail later, when nobody waits for it any more.
  work.catch(() => {})
  try {
    if ((await Promise.race([work, timeout])) === 'late')
      throw new Error(`the leases were not renewed within ${answerMs} ms`)
  } finally {
    timer.abort()
  }
}

function describe(attempts: readonly HeldAttempt[], worryingMs: number): Part {
  const silent = attempts.filter((one) => one.silentMs() >= worryingMs).length
  if (silent > 0)
    return { state: 'unreachable', detail: `cannot renew the leases of ${silent} invocations it holds` }
  const overdue = attempts.filter((one) => one.isOverdue()).length
  if (overdue > 0)
    return { state: 'unfit', detail: `${overdue} invocations are over their time and do not end` }
  return { state: 'ready', detail: `${attempts.length} running` }
}
