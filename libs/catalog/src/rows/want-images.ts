import type { Pool } from '@toolyard/db/pool'
import { changeCatalog } from './change-catalog.ts'

export type WantedImage = { tool: string; hash: string }

// Only what the folders hold can be built; what an operator rolled back from need not be.
const missing = `
  select name, wanted_hash, $1
  from tools
  where removed_at is null and wanted_hash is not null and refused_hash is distinct from wanted_hash
    and not exists (select from images where hash = wanted_hash and engine_id = $1)`

const insertMissing = `
  insert into images (tool, hash, engine_id) ${missing} on conflict (hash, engine_id) do nothing`

const selectUnbuilt = `
  select image.tool, image.hash
  from images as image
  join tools on tools.name = image.tool and tools.wanted_hash = image.hash and tools.removed_at is null
  where image.engine_id = $1 and image.state in ('wanted', 'building')
  order by image.changed_at, image.tool
  limit 1000`

/** Notes what this engine lacks, and says what is still to be built there. */
export async function wantImages(pool: Pool, engineId: string): Promise<WantedImage[]> {
  const lacks = await pool.query(`${missing} limit 1`, [engineId])
  // Callers see it: what another engine could not build is building again.
  if (lacks.rowCount === 1) await changeCatalog(pool, (sql) => sql.query(insertMissing, [engineId]))
  const found = await pool.query<WantedImage>(selectUnbuilt, [engineId])
  return found.rows
}
