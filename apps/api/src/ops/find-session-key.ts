import type { AccessKey } from '@toolyard/access/access-key'
import type { EpochWatch } from '@toolyard/access/epoch-watch'
import { getKey } from '@toolyard/access/get-key'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'

export type FindSessionKeyDeps = { pool: Pool; watch: EpochWatch }

/** The key of a session as its row is at this moment, so that a key that is revoked ends its sessions at once (I9). */
export async function findSessionKey({ pool, watch }: FindSessionKeyDeps, id: string): Promise<AccessKey> {
  const key = await getKey(pool, { kind: 'operator' }, id).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'not_found' ? endedSession() : error
  })
  // The row was read now; without a reading of the database's clock that is as fresh, ours has to do.
  const nowMs = watch.fresh()?.databaseNowMs ?? Date.now()
  const hasExpired = key.expiresAt !== null && key.expiresAt.getTime() <= nowMs
  if (key.revokedAt !== null || hasExpired) throw endedSession()
  return key
}

export function endedSession(): AppError {
  return new AppError('unauthenticated', 'There is no session, or it has ended: sign in at /ops/sign-in')
}
