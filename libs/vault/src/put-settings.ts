import type { Call } from '@toolyard/access/actor'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { lockDataKey } from './data-key-rows.ts'
import type { Vault } from './open-vault.ts'
import type { GivenSettings } from './plan-put.ts'
import { checkGiven, checkSize, planPut } from './plan-put.ts'
import type { Scalar, SealedSetting } from './setting.ts'
import { sealSetting, unsealSetting } from './setting.ts'
import type { SettingsSchema } from './settings-schema.ts'
import { storedMax } from './stored-settings.ts'
import { withMasterKeys } from './with-master-keys.ts'

// index: vault_settings_pkey
const selectStored = `
  select key, secret, sealed from vault_settings where tool = $1 order by key limit ${storedMax}`

const upsert = `
  insert into vault_settings (tool, key, secret, filled, sealed)
  select $1, one.key, one.secret, one.filled, one.sealed
  from unnest($2::text[], $3::boolean[], $4::boolean[], $5::bytea[]) as one (key, secret, filled, sealed)
  on conflict (tool, key) do update
  set secret = excluded.secret, filled = excluded.filled, sealed = excluded.sealed, changed_at = now()`

export type NewSettings = {
  /** Or whatever else has secrets, under a name that no tool can have. */
  tool: string
  /** What the audit calls it. */
  target?: string
  schema: SettingsSchema
  values: GivenSettings
}

/**
 * Stores all of the values or none; keys that are not named stay as they are, and so do secrets given as `***`.
 * Answers the given keys, sorted.
 */
export async function putSettings(
  vault: Vault,
  call: Call,
  { tool, target, schema, values }: NewSettings,
): Promise<string[]> {
  // Before the database is asked: most refusals are seen in the body alone.
  checkGiven(schema, values)
  await withMasterKeys(vault, (masterKeys) =>
    transaction(vault.pool, async (sql) => {
      const dataKey = await lockDataKey(sql, masterKeys, tool)
      try {
        await putUnder(dataKey, sql, call, { tool, target, schema, values })
      } finally {
        dataKey.fill(0)
      }
    }),
  )
  return Object.keys(values).toSorted()
}

async function putUnder(
  dataKey: Buffer,
  sql: Sql,
  call: Call,
  {
    tool,
    target = `tool:${tool}`,
    schema,
    values,
  }: Omit<NewSettings, 'target'> & { target: string | undefined; values: Readonly<Record<string, Scalar>> },
): Promise<void> {
  const { rows } = await sql.query<SealedSetting>(selectStored, [tool])
  const { changes } = planPut(schema, rows, values)
  checkCount(rows, changes)
  checkSize(schema, new Map([...unsealOthers(dataKey, tool, { schema, rows, changes }), ...changes]))
  if (changes.size === 0) return
  const sealed = sealAll(dataKey, tool, { schema, changes })
  await sql.query(upsert, [
    tool,
    sealed.map(({ key }) => key),
    sealed.map(({ secret }) => secret),
    [...changes.values()].map((value) => value !== ''),
    sealed.map((one) => one.sealed),
  ])
  const detail = { keys: [...changes.keys()].toSorted() }
  await writeAudit(sql, call, { action: 'settings.put', target, detail })
}

type Change = { schema: SettingsSchema; changes: ReadonlyMap<string, Scalar> }

/** What stays of the settings that the tool is given. Nothing else is opened, so that a damaged one can be replaced. */
function unsealOthers(
  dataKey: Buffer,
  tool: string,
  { schema, rows, changes }: Change & { rows: SealedSetting[] },
): [string, Scalar][] {
  return rows
    .filter(({ key }) => Object.hasOwn(schema, key) && !changes.has(key))
    .map((row) => [row.key, unsealSetting(dataKey, tool, row).value])
}

function sealAll(dataKey: Buffer, tool: string, { schema, changes }: Change): SealedSetting[] {
  return [...changes].map(([key, value]) =>
    sealSetting(dataKey, tool, { key, secret: schema[key]?.secret !== false, value }),
  )
}

function checkCount(rows: SealedSetting[], changes: ReadonlyMap<string, Scalar>): void {
  const count = new Set([...rows.map(({ key }) => key), ...changes.keys()]).size
  if (count <= storedMax) return
  throw new AppError(
    'payload_too_large',
    `The tool would have ${count} settings stored, more than ${storedMax}: delete those that it no longer has`,
  )
}
