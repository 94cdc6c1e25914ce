import type { Sql } from '@toolyard/db/pool'

/** Wishes that every worker reads its folders again. The number says which readings are new enough to answer it. */
export async function requestReload(sql: Sql): Promise<number> {
  const moved = await sql.query<{ reload: string }>(
    'update catalog_state set reload = reload + 1 returning reload',
  )
  return Number(moved.rows[0]?.reload)
}

export type CatalogState = { epoch: number; reload: number }

export async function readCatalogState(sql: Sql): Promise<CatalogState> {
  const found = await sql.query<{ epoch: string; reload: string }>('select epoch, reload from catalog_state')
  const [row] = found.rows
  if (row === undefined) throw new Error('catalog_state must hold its one row')
  return { epoch: Number(row.epoch), reload: Number(row.reload) }
}
