import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { AccessKey, AccessKeyRow } from './access-key.ts'
import { toAccessKey } from './access-key.ts'
import type { Call } from './actor.ts'
import { keyReference, reachOf } from './actor.ts'
import { beginChange } from './begin-change.ts'
import { noSuchKey } from './get-key.ts'
import { requireActorScope } from './require-scope.ts'
import { isId } from './token.ts'
import { writeAudit } from './write-audit.ts'

// "before" is the row as the statement began, and it stays true because the epoch's lock lets one change in at a time.
const revoke = `
  update api_keys as key
  set revoked_at = coalesce(key.revoked_at, clock_timestamp())
  from api_keys as before
  where key.id = $1
    and before.id = key.id
    and ($2::text[] is null or key.topics <@ $2)
    and ($3::text[] is null or key.tools <@ $3)
  returning key.id, key.name, key.scopes, key.topics, key.tools, key.created_at, key.expires_at, key.revoked_at,
    before.revoked_at is not null as was_revoked`

/**
 * Ends a key for good, in every process within 2 s. Revoking it again changes nothing and is no fault. Scopes do not
 * limit whom a key may revoke: taking power away is the safe direction, and a leaked key must be stoppable.
 */
export async function revokeKey(pool: Pool, call: Call, id: string): Promise<AccessKey> {
  requireActorScope(call.actor, 'keys:manage')
  if (!isId(id)) throw noSuchKey()
  const reach = reachOf(call.actor)
  return transaction(pool, async (sql) => {
    await beginChange(sql, call.actor)
    const revoked = await sql.query<AccessKeyRow & { was_revoked: boolean }>(revoke, [
      id,
      reach.topics,
      reach.tools,
    ])
    const row = revoked.rows[0]
    if (row === undefined) throw noSuchKey()
    await writeAudit(sql, call, {
      action: 'key.revoke',
      target: keyReference(row.id),
      detail: { name: row.name, was_revoked: row.was_revoked },
    })
    return toAccessKey(row)
  })
}
