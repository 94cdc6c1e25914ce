import type { Actor } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { getInvocation } from '@toolyard/invocations/get'
import type { Invocation } from '@toolyard/invocations/invocation'
import { isFinal } from '@toolyard/contract/invocations'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { WideEvent } from '@toolyard/log/wide-event'
import { toRefusal } from '../../http/problem.ts'

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
 * process is leaving. A database that is away for a moment ends no wait. It is accepted, so nothing that breaks here is
 * told but one thing: that the key which asked has been revoked meanwhile.
 */
export async function followCall(
  deps: FollowDeps,
  accepted: Invocation,
  following: Following,
): Promise<Invocation> {
  const { waitMs, signal, event, tell } = following
  const until = performance.now() + waitMs
  let one = accepted
  try {
    await tell(one)
    for (let beat = firstBeatMs; ; beat = beatMs) {
      const leftMs = until - performance.now()
      if (isFinal(one.status) || leftMs <= 0 || signal.aborted || deps.isLeaving()) return one
      await deps.watcher.waitFinal(one.id, Math.min(leftMs, beat), signal)
      const now = await look(deps, one.id, following)
      if (now === undefined) continue
      one = now
      await tell(one)
    }
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') throw error
    event.set({ error })
    return one
  }
}

// A database that starts again has many words for it, not all of which are known as such.
const passing: ReadonlySet<string> = new Set(['store_unavailable', 'internal'])

/** How it stands; undefined where the database could not be asked. */
async function look(
  { pool }: FollowDeps,
  id: string,
  { actor, checkKey, event }: Following,
): Promise<Invocation | undefined> {
  try {
    await checkKey()
    return await getInvocation(pool, actor, id)
  } catch (error) {
    if (!passing.has(toRefusal(error).code)) throw error
    event.set({ error })
    return undefined
  }
}

export function describeProgress({ status, waitingFor, attempts }: Invocation): string {
  if (status === 'running') return attempts > 1 ? `running, attempt ${attempts}` : 'running'
  return waitingFor === null ? status : `${status}: ${waitingFor}`
}
