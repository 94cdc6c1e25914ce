import assert from 'node:assert/strict'
import type { Actor, Call } from '@toolyard/access/actor'
import type { Sql } from '@toolyard/db/pool'
import type { Vault } from '@toolyard/vault/open-vault'
import { forgetOldest, makeSecret, ofCallbacks, overlap } from './signing-secrets.ts'

const find = 'select rotated_until from callback_secrets where key_id = $1 and made_at is not null'

const takeNumber = `
  insert into callback_secrets as one (key_id) values ($1)
  on conflict (key_id) do update
  set secret_no = one.secret_no + 1,
    rotated_until = case when one.made_at is null then null else clock_timestamp() + ${overlap} end
  returning rotated_until, secret_no`

const noteMade = `
  update callback_secrets set made_at = clock_timestamp() where key_id = $1 and made_at is null`

export type CallbackSecret = { exists: boolean; rotatedUntil: Date | null }

/** Of the key's own: it signs what is sent to the `callback_url` of its calls. */
export async function findCallbackSecret(sql: Sql, actor: Actor): Promise<CallbackSecret> {
  const { rows } = await sql.query<{ rotated_until: Date | null }>(find, [keyOf(actor)])
  return { exists: rows[0] !== undefined, rotatedUntil: rows[0]?.rotated_until ?? null }
}

/** Makes it, or a new one beside the one before, which signs for another day. It is shown this once. */
export async function renewCallbackSecret(
  vault: Vault,
  call: Call,
): Promise<CallbackSecret & { secret: string }> {
  const keyId = keyOf(call.actor)
  type Taken = { rotated_until: Date | null; secret_no: number }
  const { rows } = await vault.pool.query<Taken>(takeNumber, [keyId])
  assert.ok(rows[0], 'an upsert gives its row')
  const signing = { holder: ofCallbacks(keyId), no: rows[0].secret_no }
  const secret = await makeSecret(vault, call, signing)
  await vault.pool.query(noteMade, [keyId])
  await forgetOldest(vault, call, signing)
  return { exists: true, rotatedUntil: rows[0].rotated_until, secret }
}

function keyOf(actor: Actor): string {
  assert.ok(actor.kind === 'key', 'a callback secret belongs to a key')
  return actor.key.id
}
