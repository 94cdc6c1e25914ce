import type { Sql } from '@toolyard/db/pool'

// index: vault_settings_pkey, read whole
const select = `
  select tool, array_agg(key) as keys
  from vault_settings
  where filled
  group by tool
  order by tool
  limit 10000`

/** Of every tool, the keys that hold something: an empty string does not count. Needs no key. */
export async function storedKeys(sql: Sql): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = await sql.query<{ tool: string; keys: string[] }>(select)
  return new Map(found.rows.map(({ tool, keys }) => [tool, new Set(keys)]))
}
