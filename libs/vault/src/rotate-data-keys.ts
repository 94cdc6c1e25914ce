import type { Call } from '@toolyard/access/actor'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { newDataKey, unwrapDataKey, wrapDataKey } from './data-key.ts'
import { lockWrapped } from './data-key-rows.ts'
import { requireKnown } from './known-master-keys.ts'
import type { MasterKeys } from './master-key.ts'
import type { Vault } from './open-vault.ts'
import type { SealedSetting } from './setting.ts'
import { sealSetting, unsealSetting } from './setting.ts'
import { storedMax } from './stored-settings.ts'

// index: vault_data_keys_pkey
const nextTool = 'select tool from vault_data_keys where tool > $1 order by tool limit 1'
const selectStored = `
  select key, secret, sealed from vault_settings where tool = $1 order by key limit ${storedMax}`
const replaceKey = 'update vault_data_keys set master_key_id = $2, wrapped = $3 where tool = $1'
const reseal = `
  update vault_settings as setting
  set sealed = fresh.sealed
  from unnest($2::text[], $3::bytea[]) as fresh (key, sealed)
  where setting.tool = $1 and setting.key = fresh.key`

export type DataKeyRotation = {
  rotated: number
  /** Tools of which something could not be opened, and that stay as they were. */
  unreadable: string[]
}

/**
 * Gives every tool a new data key, under the current master key, and encrypts its settings anew: for when a data key
 * may be known. One tool a transaction; readers never wait, and see a tool before or after.
 */
export async function rotateDataKeys({ pool, masterKeys }: Vault, call: Call): Promise<DataKeyRotation> {
  const unreadable: string[] = []
  let rotated = 0
  for (let after = ''; ;) {
    const tool = (await pool.query<{ tool: string }>(nextTool, [after])).rows[0]?.tool
    if (tool === undefined) return { rotated, unreadable }
    try {
      if (await transaction(pool, (sql) => rotateOne(sql, { masterKeys, call, tool }))) rotated++
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      unreadable.push(tool)
    }
    after = tool
  }
}

/** Whether there was still something to rotate. */
async function rotateOne(
  sql: Sql,
  { masterKeys, call, tool }: { masterKeys: MasterKeys; call: Call; tool: string },
): Promise<boolean> {
  await requireKnown(sql, masterKeys.current)
  const row = await lockWrapped(sql, tool)
  if (row === undefined) return false
  const old = unwrapDataKey(masterKeys, row)
  const fresh = newDataKey()
  try {
    const { rows } = await sql.query<SealedSetting>(selectStored, [tool])
    const sealed = rows.map((setting) => sealSetting(fresh, tool, unsealSetting(old, tool, setting)))
    await sql.query(reseal, [tool, sealed.map(({ key }) => key), sealed.map((setting) => setting.sealed)])
    const { master_key_id, wrapped } = wrapDataKey(masterKeys.current, tool, fresh)
    await sql.query(replaceKey, [tool, master_key_id, wrapped])
    await writeAudit(sql, call, { action: 'settings.rotate', target: `tool:${tool}`, detail: {} })
    return true
  } finally {
    old.fill(0)
    fresh.fill(0)
  }
}
