import type { Actor } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { getInvocation } from '@toolyard/invocations/get'
import type { Invocation } from '@toolyard/invocations/invocation'
import { isFinal } from '@toolyard/invocations/invocation'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { WideEvent } from '@toolyard/log/wide-event'

// The first comes soon, so that a short wait in the queue is not taken for one.
const firstBeatMs = 1_000
const beatMs = 5_000

export type FollowDeps = { pool: Pool; watcher: Watcher; isLeaving: () => boolean }

export type Following = {
  actor: Actor
  waitMs: number
  signal: AbortSignal
  /** Throws where the key is one no longer. */
  checkKey: () => Promise<unknown>
  event: Pick<WideEvent, 'set'>
  /** Hears how it stands, at each beat. */
  tell: (one: Invocation) => Promise<void>
}

/**
 * What has become of it when it ends, or when there is no more waiting: the time is up, the caller has gone, this
 * process is leaving. It is accepted, so nothing that breaks here is told but one thing: that the key which asked has
 * been revoked meanwhile.
 */
export async function followCall(
  { pool, watcher, isLeaving }: FollowDeps,
  accepted: Invocation,
  { actor, waitMs, signal, checkKey, event, tell }: Following,
): Promise<Invocation> {
  const until = performance.now() + waitMs
  let one = accepted
  try {
    for (let beat = firstBeatMs; ; beat = beatMs) {
      const leftMs = until - performance.now()
      await tell(one)
      if (isFinal(one.status) || leftMs <= 0 || signal.aborted || isLeaving()) return one
      await watcher.waitFinal(one.id, Math.min(leftMs, beat), signal)
      await checkKey()
      one = await getInvocation(pool, actor, one.id)
    }
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') throw error
    event.set({ error })
    return one
  }
}

export function describeProgress({ status, waitingFor, attempts }: Invocation): string {
  if (status === 'running') return attempts > 1 ? `running, attempt ${attempts}` : 'running'
  return waitingFor === null ? status : `${status}: ${waitingFor}`
}
