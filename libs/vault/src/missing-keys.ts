import type { Sql } from '@toolyard/db/pool'
import type { SettingsSchema } from './settings-schema.ts'
import { missingAmong } from './settings-schema.ts'

// index: vault_settings_pkey
const select = 'select key from vault_settings where tool = $1 and key = any ($2) and filled limit 10000'

/** The required keys without which the tool cannot run, in the schema's order. Needs no key. */
export async function missingKeys(sql: Sql, tool: string, schema: SettingsSchema): Promise<string[]> {
  const wanted = missingAmong(schema, new Set())
  if (wanted.length === 0) return []
  const found = await sql.query<{ key: string }>(select, [tool, wanted])
  return missingAmong(schema, new Set(found.rows.map(({ key }) => key)))
}
