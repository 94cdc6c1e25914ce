import assert from 'node:assert/strict'
import type { Sql } from '@toolyard/db/pool'
import type { WrappedDataKey } from './data-key.ts'
import { newDataKey, unwrapDataKey, wrapDataKey } from './data-key.ts'
import { requireKnown } from './known-master-keys.ts'
import type { MasterKeys } from './master-key.ts'

// index: vault_data_keys_pkey
const lockRow = 'select tool, master_key_id, wrapped from vault_data_keys where tool = $1 for update'
// Where another was first, its row is locked and given, as it stands.
const insertOrLock = `
  insert into vault_data_keys (tool, master_key_id, wrapped)
  values ($1, $2, $3)
  on conflict (tool) do update set tool = excluded.tool
  returning tool, master_key_id, wrapped`

/**
 * The tool's data key, made if there is none, and its row locked: whoever writes settings or rotates keys of one tool
 * does so one after the other. Readers do not wait. The caller zeroes it.
 */
export async function lockDataKey(sql: Sql, masterKeys: MasterKeys, tool: string): Promise<Buffer> {
  const found = await lockWrapped(sql, tool)
  if (found !== undefined) return unwrapDataKey(masterKeys, found)
  await requireKnown(sql, masterKeys.current)
  const fresh = newDataKey()
  const { master_key_id, wrapped } = wrapDataKey(masterKeys.current, tool, fresh)
  fresh.fill(0)
  const standing = await sql.query<WrappedDataKey>(insertOrLock, [tool, master_key_id, wrapped])
  assert(standing.rows[0], 'an insert that cannot be skipped returns its row')
  return unwrapDataKey(masterKeys, standing.rows[0])
}

export async function lockWrapped(sql: Sql, tool: string): Promise<WrappedDataKey | undefined> {
  return (await sql.query<WrappedDataKey>(lockRow, [tool])).rows[0]
}
