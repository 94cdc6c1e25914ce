import type { Sql } from '@toolyard/db/pool'

/** The database's clock, which is the same for all processes: whatever is due is due by it. */
export async function readClock(sql: Sql): Promise<Date> {
  const { rows } = await sql.query<{ now: Date }>('select clock_timestamp() as now')
  const [row] = rows
  if (row === undefined) throw new Error('the database does not say what time it is')
  return row.now
}
