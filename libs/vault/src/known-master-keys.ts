import type { Call } from '@toolyard/access/actor'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import type { MasterKey } from './master-key.ts'

/** A master key as the database knows it. */
export type KnownMasterKey = { id: string; proof: Buffer; made_on: string | null; in_use: boolean }

const lock = "select pg_advisory_xact_lock(hashtextextended('toolyard vault', 0))"
const lockShared = "select pg_advisory_xact_lock_shared(hashtextextended('toolyard vault', 0))"

// index: vault_master_keys_pkey, vault_data_keys_by_master
const selectKnown = `
  select master.id, master.proof, master.made_on,
    exists (select 1 from vault_data_keys as data where data.master_key_id = master.id) as in_use
  from vault_master_keys as master
  order by master.id
  limit 10000`

const isKnown = 'select 1 from vault_master_keys where id = $1 and proof = $2'
const insertKnown = 'insert into vault_master_keys (id, proof, made_on) values ($1, $2, $3)'
const forgetUnused = 'delete from vault_master_keys'

/** All that the database knows, while nobody else opens the vault or wraps a key. */
export async function lockKnownMasterKeys(sql: Sql): Promise<KnownMasterKey[]> {
  await sql.query(lock)
  return (await sql.query<KnownMasterKey>(selectKnown)).rows
}

/**
 * Before a transaction wraps anything. An empty vault may have been given to another key since this process opened it;
 * what this one wraps now, nobody could read after its end.
 */
export async function requireKnown(sql: Sql, current: MasterKey): Promise<void> {
  await sql.query(lockShared)
  const { rowCount } = await sql.query(isKnown, [current.id, current.proof])
  if (rowCount === 1) return
  throw new AppError(
    'secrets_unavailable',
    `The vault has been opened with another master key than ${current.id}, which this process has: restart it`,
  )
}

export type Admission = {
  /** Keys that the database is to learn. */
  learn: readonly MasterKey[]
  /** First forget the others: nothing is under them. */
  afresh: boolean
  /** Host and folder of the key file that they come from; null: an operator gave them. */
  madeOn: string | null
}

export async function admit(sql: Sql, { learn, afresh, madeOn }: Admission): Promise<void> {
  const call: Call = { actor: { kind: 'operator' } }
  if (afresh) await sql.query(forgetUnused)
  for (const { id, proof } of learn) {
    await sql.query(insertKnown, [id, proof, madeOn])
    await writeAudit(sql, call, { action: 'master_key.admit', target: `master_key:${id}`, detail: {} })
  }
}
