import type { Pool } from '@toolyard/db/pool'
import { changeCatalog } from './change-catalog.ts'

// One that was finished while the engine was being asked is not lost.
const lost = `
  engine_id = $1 and state = 'ready' and not image_id = any ($2) and changed_at < now() - interval '1 minute'`

const anyLost = `select 1 from images where ${lost} limit 1`

const markLost = `
  update images set state = 'wanted', image_id = null, facts = null, changed_at = now()
  where ${lost}
  returning tool`

/** Somebody has removed images behind our back. Whatever of them is still wanted is built again. */
export async function noteLostImages(
  pool: Pool,
  engineId: string,
  present: readonly string[],
): Promise<string[]> {
  const found = await pool.query(anyLost, [engineId, present])
  if (found.rowCount === 0) return []
  return changeCatalog(pool, async (sql) => {
    const marked = await sql.query<{ tool: string }>(markLost, [engineId, present])
    return marked.rows.map(({ tool }) => tool)
  })
}
