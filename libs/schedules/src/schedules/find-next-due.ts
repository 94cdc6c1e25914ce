import type { Sql } from '@toolyard/db/pool'

// index: schedules_due
const select = `
  select (extract(epoch from min(next_tick_at) - clock_timestamp()) * 1000)::double precision as ms from schedules
  where next_tick_at is not null`

/** In how many milliseconds the next tick is due, by the database's clock; undefined: none is to come. */
export async function findNextDue(sql: Sql): Promise<number | undefined> {
  const { rows } = await sql.query<{ ms: number | null }>(select)
  return rows[0]?.ms ?? undefined
}
