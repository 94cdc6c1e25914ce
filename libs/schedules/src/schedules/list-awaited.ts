import type { Sql } from '@toolyard/db/pool'
import type { ScheduleRow } from './schedule.ts'
import { timingOf } from './schedule.ts'

/** A schedule that an alarm is worth having for. */
export type AwaitedSchedule = { tool: string; schedule: string; timezone: string; nextTickAt: Date }

// index: schedules_due
const select = `
  select tool, asked, overrides, next_tick_at from schedules
  where next_tick_at is not null
  order by next_tick_at limit 10000`

/** Those that are not paused and have a tick to come, the next one first. */
export async function listAwaited(sql: Sql): Promise<AwaitedSchedule[]> {
  type Row = Pick<ScheduleRow, 'tool' | 'asked' | 'overrides'> & { next_tick_at: Date }
  const { rows } = await sql.query<Row>(select)
  return rows.map((row) => {
    const { schedule, timezone } = timingOf(row)
    return { tool: row.tool, schedule, timezone, nextTickAt: row.next_tick_at }
  })
}
