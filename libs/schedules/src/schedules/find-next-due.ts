import type { Sql } from '@toolyard/db/pool'

// index: schedules_due
const select = `
  select exists (select from schedules where next_tick_at <= $1) as is_left,
    (extract(epoch from (select min(next_tick_at) from schedules where next_tick_at > $1) - clock_timestamp())
      * 1000)::double precision as ms`

export type NextDue = {
  /** Something that was due at the last look still is. */
  isLeft: boolean
  /** In how many milliseconds the next tick is due, by the database's clock; undefined: none is to come. */
  inMs: number | undefined
}

/** What there is to do after a look at what was due at `lookedAt`. */
export async function findNextDue(sql: Sql, lookedAt: Date): Promise<NextDue> {
  const { rows } = await sql.query<{ is_left: boolean; ms: number | null }>(select, [lookedAt])
  const [row] = rows
  return { isLeft: row?.is_left === true, inMs: row?.ms ?? undefined }
}
