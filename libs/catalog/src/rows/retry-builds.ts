import type { Pool } from '@toolyard/db/pool'
import { changeCatalog } from './change-catalog.ts'

const failed = {
  all: "engine_id = $1 and state = 'error'",
  faults: "engine_id = $1 and state = 'error' and failures > 0",
} as const

/** Tries again what failed on this engine: all of it, or what the engine was at fault for. */
export async function retryBuilds(pool: Pool, engineId: string, which: 'all' | 'faults'): Promise<void> {
  const found = await pool.query(`select from images where ${failed[which]} limit 1`, [engineId])
  if (found.rowCount === 0) return
  const reset = `
    update images set state = 'wanted', error = null, failures = 0, changed_at = now()
    where ${failed[which]}`
  await changeCatalog(pool, (sql) => sql.query(reset, [engineId]))
}
