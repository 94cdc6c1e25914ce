import { localTime } from '../rules/local-time.ts'
import { readSchedule } from '../rules/schedule.ts'
import { nextTicks } from '../rules/ticks.ts'
import type { ScheduleRow, Timing } from './schedule.ts'
import { timingOf } from './schedule.ts'

export type ScheduleShape = Timing & {
  tool: string
  /** What an operator has set, of the timing. */
  overrides: string[]
  paused: { at: string; reason: string } | null
  /** The next five, and what the clock of the zone shows then; none while it is paused. */
  next: { at: string; local: string }[]
  /** What became of the ticks up to here is decided. */
  last_tick_at: string
  last_result: {
    invocation_id: string
    status: string
    failure: { kind: string; message: string } | null
    ended_at: string
  } | null
  failures_in_a_row: number
  fired: number
  skipped: number
  missed: number
  prompts_superseded: number
  /** Why no tick can run, in words. */
  faults: string[]
}

const nextCount = 5

export function toScheduleShape(row: ScheduleRow, now: Date): ScheduleShape {
  const timing = timingOf(row)
  const read = readSchedule(timing.schedule, timing.timezone)
  const { paused_at: pausedAt, paused_reason: reason } = row
  const from = row.last_tick_at > now ? row.last_tick_at : now
  return {
    tool: row.tool,
    ...timing,
    overrides: Object.keys(row.overrides),
    paused: pausedAt === null || reason === null ? null : { at: pausedAt.toISOString(), reason },
    next:
      'schedule' in read && pausedAt === null
        ? nextTicks(read.schedule, from, nextCount).map((tickAt) => ({
            at: tickAt.toISOString(),
            local: localTime(read.schedule, tickAt),
          }))
        : [],
    last_tick_at: row.last_tick_at.toISOString(),
    last_result: toLastResult(row),
    failures_in_a_row: row.failures,
    fired: row.fired_count,
    skipped: row.skipped_count,
    missed: row.missed_count,
    prompts_superseded: row.superseded_count,
    faults: [
      ...('faults' in read ? read.faults.map(({ field, detail }) => `${field} ${detail}`) : []),
      ...(row.call.fault === null ? [] : [row.call.fault]),
    ],
  }
}

function toLastResult(row: ScheduleRow): ScheduleShape['last_result'] {
  const { last_invocation_id: id, last_status: status, last_ended_at: endedAt, last_failure: failure } = row
  if (id === null || status === null || endedAt === null) return null
  return { invocation_id: id, status, failure, ended_at: endedAt.toISOString() }
}
