import { prepared } from '@toolyard/db/prepared'
import type { Sql } from '@toolyard/db/pool'
import type { ScheduleRow } from './schedule.ts'
import { scheduleColumns, servedHash } from './schedule.ts'

// The order of locks: rows of invocations and of memory, as a finish has them, then schedules (sorted), then tools
// (sorted), as whoever submits has them. Whoever holds a schedule never waits for an invocation.

/** `served_hash`: of the version that serves now. */
export type LockedSchedule = ScheduleRow & { served_hash: string }

// index: schedules_pkey
const lock = (wait: string) =>
  prepared(`
  select ${scheduleColumns}, ${servedHash} as served_hash
  from schedules left join tools on tools.name = schedules.tool
  where schedules.tool = any($1)
  order by schedules.tool
  for no key update of schedules ${wait}`)

const locks = { wait: lock(''), skip: lock('skip locked') }

/** Those of these tools that have a schedule; `skip` leaves out those that somebody else holds. In a transaction. */
export async function lockSchedules(
  sql: Sql,
  tools: readonly string[],
  held: 'wait' | 'skip' = 'wait',
): Promise<LockedSchedule[]> {
  const { rows } = await sql.query<LockedSchedule>(locks[held]([tools]))
  return rows
}
