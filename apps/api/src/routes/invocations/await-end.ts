import type { Actor } from '@toolyard/access/actor'
import type { Pool } from '@toolyard/db/pool'
import { getInvocation } from '@toolyard/invocations/get'
import type { Invocation } from '@toolyard/invocations/invocation'
import { isFinal } from '@toolyard/contract/invocations'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { WideEvent } from '@toolyard/log/wide-event'

type Wait = { actor: Actor; waitMs: number; signal: AbortSignal; event: Pick<WideEvent, 'set'> }

/**
 * What has become of it when it ends, or when the caller's patience does. It is accepted, so nothing that breaks here is
 * told: an error now would have the caller ask for a second one.
 */
export async function awaitEnd(
  { pool, watcher }: { pool: Pool; watcher: Watcher },
  accepted: Invocation,
  { actor, waitMs, signal, event }: Wait,
): Promise<Invocation> {
  if (waitMs === 0 || isFinal(accepted.status)) return accepted
  try {
    await watcher.waitFinal(accepted.id, waitMs, signal)
    return await getInvocation(pool, actor, accepted.id)
  } catch (error) {
    event.set({ error })
    return accepted
  }
}
