import type { Call } from '@toolyard/access/actor'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { WrappedDataKey } from './data-key.ts'
import { unwrapDataKey, wrapDataKey } from './data-key.ts'
import { requireKnown } from './known-master-keys.ts'
import type { MasterKeys } from './master-key.ts'
import type { Vault } from './open-vault.ts'

const batchMax = 50

// index: vault_data_keys_pkey. Rows are locked in the order of their names, so rotations cannot deadlock.
const lockOutdated = `
  select tool, master_key_id, wrapped
  from vault_data_keys
  where tool > $1 and master_key_id <> $2
  order by tool
  limit ${batchMax}
  for update`

const rewrap = `
  update vault_data_keys as data
  set master_key_id = fresh.master_key_id, wrapped = fresh.wrapped
  from unnest($1::text[], $2::text[], $3::bytea[]) as fresh (tool, master_key_id, wrapped)
  where data.tool = fresh.tool`

// index: vault_data_keys_by_master
const countUses = `
  select master_key_id as id, count(*)::integer as tools
  from vault_data_keys
  group by master_key_id
  order by master_key_id
  limit 10000`

export type Rotation = {
  /** The master key that is now on top. */
  current: string
  rewrapped: number
  /** Tools whose data key could not be opened, and stays as it was. */
  unreadable: string[]
  /** How many tools need which master key now: one that is not here may be taken from the lists. */
  inUse: { id: string; tools: number }[]
}

/**
 * Wraps every data key anew with the current master key; settings stay as they are. Readers never wait and never miss:
 * they hold both keys, and see a row before or after. Small transactions, each of them final, so that a rotation that
 * ends half-way is simply begun again; each tool is visited once, so that two that pull in two directions both end.
 */
export async function rotateMasterKey(vault: Vault, call: Call): Promise<Rotation> {
  const { pool, masterKeys } = vault
  const unreadable: string[] = []
  let rewrapped = 0
  for (let after: string | undefined = ''; after !== undefined;) {
    const batch: Batch = await transaction(pool, (sql) =>
      rotateBatch(sql, { masterKeys, call, after: after ?? '' }),
    )
    rewrapped += batch.rewrapped
    unreadable.push(...batch.unreadable)
    after = batch.last
  }
  const uses = await pool.query<{ id: string; tools: number }>(countUses)
  return { current: masterKeys.current.id, rewrapped, unreadable, inUse: uses.rows }
}

type Batch = { rewrapped: number; unreadable: string[]; last: string | undefined }

async function rotateBatch(
  sql: Sql,
  { masterKeys, call, after }: { masterKeys: MasterKeys; call: Call; after: string },
): Promise<Batch> {
  const { current } = masterKeys
  await requireKnown(sql, current)
  const { rows } = await sql.query<WrappedDataKey>(lockOutdated, [after, current.id])
  const fresh: WrappedDataKey[] = []
  const unreadable: string[] = []
  for (const row of rows) {
    const wrapped = wrapAnew(masterKeys, row)
    if (wrapped === undefined) unreadable.push(row.tool)
    else fresh.push(wrapped)
  }
  if (fresh.length > 0) {
    await sql.query(rewrap, [
      fresh.map(({ tool }) => tool),
      fresh.map(({ master_key_id }) => master_key_id),
      fresh.map(({ wrapped }) => wrapped),
    ])
    await writeAudit(sql, call, {
      action: 'master_key.rotate',
      target: `master_key:${current.id}`,
      detail: { tools: fresh.map(({ tool }) => tool) },
    })
  }
  return { rewrapped: fresh.length, unreadable, last: rows.at(-1)?.tool }
}

/** Undefined where the row cannot be opened: one that was damaged must not keep the others from a new key. */
function wrapAnew(masterKeys: MasterKeys, row: WrappedDataKey): WrappedDataKey | undefined {
  let dataKey: Buffer
  try {
    dataKey = unwrapDataKey(masterKeys, row)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
  const wrapped = wrapDataKey(masterKeys.current, row.tool, dataKey)
  dataKey.fill(0)
  return wrapped
}
