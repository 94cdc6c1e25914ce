import type { Sql } from './pool.ts'

const select = `
  select (extract(epoch from clock_timestamp() - make_interval(days => $1)) * 1000)::double precision as ms`

/** The moment so many days ago by the database's clock, to be made an id of: ids sort by time. */
export async function daysAgoMs(sql: Sql, days: number): Promise<number> {
  const { rows } = await sql.query<{ ms: number }>(select, [days])
  const [row] = rows
  if (row === undefined) throw new Error('the clock was not answered')
  return Math.floor(row.ms)
}
