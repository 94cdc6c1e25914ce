import type { Sql } from '@toolyard/db/pool'
import type { WrappedDataKey } from './data-key.ts'
import { unwrapDataKey } from './data-key.ts'
import type { MasterKeys } from './master-key.ts'
import type { Vault } from './open-vault.ts'
import type { SealedSetting, StoredSetting } from './setting.ts'
import { unsealSetting } from './setting.ts'
import { withMasterKeys } from './with-master-keys.ts'

/** How many settings a tool can have stored, those that its schema no longer names included. */
export const storedMax = 500

// One statement, so that key and settings are of one moment, whatever is rotated meanwhile.
// index: vault_data_keys_pkey, vault_settings_pkey
const select = `
  select data.tool, data.master_key_id, data.wrapped, setting.key, setting.secret, setting.sealed
  from vault_data_keys as data
  join vault_settings as setting on setting.tool = data.tool
  where data.tool = $1 and ($2::text[] is null or setting.key = any ($2))
  order by setting.key
  limit ${storedMax}`

type Wanted = { tool: string; keys: readonly string[] | null }

/** What is stored for a tool, in clear: everything, or what these keys have. */
export function storedSettings(
  vault: Vault,
  tool: string,
  keys: readonly string[] | null = null,
): Promise<StoredSetting[]> {
  return withMasterKeys(vault, (masterKeys) => openAll(vault.pool, masterKeys, { tool, keys }))
}

async function openAll(sql: Sql, masterKeys: MasterKeys, { tool, keys }: Wanted): Promise<StoredSetting[]> {
  const { rows } = await sql.query<WrappedDataKey & SealedSetting>(select, [tool, keys])
  const [first] = rows
  if (first === undefined) return []
  const dataKey = unwrapDataKey(masterKeys, first)
  try {
    return rows.map((row) => unsealSetting(dataKey, tool, row))
  } finally {
    dataKey.fill(0)
  }
}
