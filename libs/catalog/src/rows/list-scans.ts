import type { Pool, Sql } from '@toolyard/db/pool'
import { changeCatalog } from './change-catalog.ts'

/** What a worker found when it last read its folders. Known for a while after it has ended. */
export type ScanRow = {
  process_id: string
  engine_id: string | null
  reload: number
  content_hash: string
  tool_count: number
  faults: { folder: string; faults: string[] }[]
  scanned_at: Date
}

const select = `
  select process_id, engine_id, reload::integer, content_hash, tool_count, faults, scanned_at
  from catalog_scans
  where process_id = any ($1)
  order by scanned_at desc
  limit 1000`

export async function listScans(sql: Sql, liveWorkers: ReadonlySet<string>): Promise<ScanRow[]> {
  return (await sql.query<ScanRow>(select, [[...liveWorkers]])).rows
}

/** This worker's reading still stands, and so does its engine. */
export async function noteScan(sql: Sql, processId: string): Promise<void> {
  await sql.query('update catalog_scans set scanned_at = now() where process_id = $1', [processId])
}

// The last of an engine stays for a day, as images that nothing needs: one that was only away finds its own again.
const dropScans = `
  delete from catalog_scans as old
  where process_id <> all ($1) and scanned_at < now() - interval '10 minutes'
    and (engine_id is null or scanned_at < now() - interval '1 day' or exists (
      select from catalog_scans as newer
      where newer.engine_id = old.engine_id and newer.scanned_at > old.scanned_at))`

const unknown = `
  changed_at < now() - interval '1 day'
  and not exists (select from catalog_scans where catalog_scans.engine_id = images.engine_id)`

/** Forgets the readings of processes that have ended, and the images of engines that nobody uses now. */
export async function pruneScans(pool: Pool, liveWorkers: ReadonlySet<string>): Promise<void> {
  await pool.query(dropScans, [[...liveWorkers]])
  const found = await pool.query(`select from images where ${unknown} limit 1`)
  if (found.rowCount === 0) return
  await changeCatalog(pool, (sql) => sql.query(`delete from images where ${unknown}`))
}
