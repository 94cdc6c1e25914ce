import type { Secret } from '@toolyard/config/secret'
import type { Sql } from '@toolyard/db/pool'
import { listProcesses } from '@toolyard/service/list-processes'
import { parseMasterKeys } from './master-key.ts'
import { VaultError } from './vault-error.ts'

const isNew = `
  select 1
  where exists (select 1 from vault_master_keys)
    and not exists (select 1 from vault_master_keys where id = $1)`

/**
 * Before a rotation: refuses a new first key from a variable while processes run. They cannot read a variable again,
 * so that nothing which is wrapped with that key would open for them.
 */
export async function refuseUnseenKey(sql: Sql, secretKeys: Secret | undefined): Promise<void> {
  if (secretKeys === undefined || secretKeys.readAgain !== undefined) return
  const { id } = parseMasterKeys(secretKeys.reveal(), 'YARD_SECRET_KEYS').current
  if ((await sql.query(isNew, [id])).rowCount === 0) return
  const { length } = await listProcesses(sql)
  if (length === 0) return
  throw new VaultError(
    [
      `YARD_SECRET_KEYS begins with ${id}, which is new to this vault, and processes are at work (${length}) that were started without it: no settings would open for them any more.`,
      `Stop them, rotate and start them again; or, without a pause, put ${id} behind the first key, restart every process, put it first and rotate.`,
      'Keys in a file need no restart: YARD_SECRET_KEYS_FILE, or the file in the data directory',
    ].join(' '),
  )
}
