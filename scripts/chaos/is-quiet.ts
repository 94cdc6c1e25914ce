import type { Pool } from '@toolyard/db/pool'

const countOpen = `select count(*)::integer as count from invocations where gate <> 'closed'`

/** Whether every call that was accepted has ended; not while nobody can say so. */
export async function isQuiet(pool: Pool): Promise<boolean> {
  const found = await pool.query<{ count: number }>(countOpen).catch(() => undefined)
  return found?.rows[0]?.count === 0
}
