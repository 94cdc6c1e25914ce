import type { Sql } from '@toolyard/db/pool'

// Long after nobody believes them: the rows of killed processes help to see what happened.
const keptHours = 24

/** Forgets processes that ended without saying so. Returns how many. */
export async function pruneProcesses(sql: Sql): Promise<number> {
  const deleted = await sql.query(
    'delete from processes where seen_at < clock_timestamp() - make_interval(hours => $1)',
    [keptHours],
  )
  return deleted.rowCount ?? 0
}
