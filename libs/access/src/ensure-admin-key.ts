import assert from 'node:assert/strict'
import { scopes } from '@toolyard/contract/scopes'
import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { Call } from './actor.ts'
import { beginChange } from './begin-change.ts'
import type { NewKey } from './insert-key.ts'
import { insertKey, prepareSecret } from './insert-key.ts'

const lock = 'select pg_advisory_xact_lock($1)'
const hasAdmin = `
  select exists (
    select 1 from api_keys
    where 'keys:manage' = any (scopes)
      and revoked_at is null
      and (expires_at is null or expires_at > clock_timestamp())) as found`

// Any constant will do as long as it never changes: it is what concurrent first starts meet at.
const advisoryLockKey = 7_406_518_294

/** On the first start: a key that may do everything. Undefined once any key that manages keys works. */
export async function ensureAdminKey(pool: Pool): Promise<NewKey | undefined> {
  const call: Call = { actor: { kind: 'operator' } }
  return transaction(pool, async (sql) => {
    await sql.query(lock, [advisoryLockKey])
    const admin = await sql.query<{ found: boolean }>(hasAdmin)
    assert(admin.rows[0], 'a select without from returns one row')
    if (admin.rows[0].found) return undefined
    await beginChange(sql, call.actor)
    return insertKey(sql, call, { name: 'admin', scopes: [...scopes] }, await prepareSecret())
  })
}
