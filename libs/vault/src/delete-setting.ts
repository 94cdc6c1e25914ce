import type { Call } from '@toolyard/access/actor'
import { writeAudit } from '@toolyard/access/write-audit'
import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { lockWrapped } from './data-key-rows.ts'

// index: vault_settings_pkey, vault_data_keys_pkey
const remove = 'delete from vault_settings where tool = $1 and key = $2'
const removeUnusedKey = `
  delete from vault_data_keys
  where tool = $1 and not exists (select 1 from vault_settings where tool = $1)`

/**
 * Whether there was something to delete. Needs no key, so that what cannot be read any more can be deleted. The data
 * key goes with the last setting: nobody can read old copies of these rows then.
 */
export async function deleteSetting(
  pool: Pool,
  call: Call,
  { tool, target = `tool:${tool}`, key }: { tool: string; target?: string; key: string },
): Promise<boolean> {
  // Postgres refuses a text with it, and nothing has such a name.
  if (key.includes('\0')) return false
  return transaction(pool, async (sql) => {
    if ((await lockWrapped(sql, tool)) === undefined) return false
    const { rowCount } = await sql.query(remove, [tool, key])
    if (rowCount !== 1) return false
    await sql.query(removeUnusedKey, [tool])
    await writeAudit(sql, call, {
      action: 'settings.delete',
      target,
      detail: { keys: [key] },
    })
    return true
  })
}
