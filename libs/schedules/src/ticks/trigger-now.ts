import type { Call } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import type { ReadyJob } from '@toolyard/invocations/after-commit'
import { alterSchedule } from '../schedules/alter-schedule.ts'
import type { Overlap, ScheduleRow } from '../schedules/schedule.ts'
import { timingOf } from '../schedules/schedule.ts'
import { cancelOvertaken } from './cancel-overtaken.ts'
import { decideTick, isOrdinary } from './decide-ticks.ts'
import type { ScheduleDeps } from './fire-due.ts'
import { announce } from './fire-due.ts'
import { readOpenTicks } from './read-open-ticks.ts'
import { requireStart } from './require-start.ts'
import { submitStarts } from './submit-starts.ts'
import type { Tick } from './tick.ts'
import { overtake, writeTicks } from './write-ticks.ts'

export type Triggered =
  | { kind: 'fired'; tickAt: Date; invocationId: string }
  /** It starts when what runs has ended. */
  | { kind: 'buffered'; tickAt: Date }
  /** What runs is in its way. */
  | { kind: 'skipped' }

export type Trigger = {
  tool: string
  /** Instead of the schedule's own. */
  overlap?: Overlap | undefined
  now: Date
}

// Beside those of the schedule, which are of whole seconds: two ticks of one moment would be one.
const findMoment = `
  select moment from generate_series($2::timestamptz, $2::timestamptz + interval '1 second', interval '1 ms') as moment
  where extract(milliseconds from moment)::integer % 1000 <> 0
    and not exists (select from ticks where tool = $1 and tick_at = moment)
  order by moment limit 1`

/** A run now, whether the schedule is paused or not, subject to what runs already. A refusal of the tool is an `AppError`. */
export async function triggerNow(
  deps: ScheduleDeps,
  call: Call,
  { tool, overlap, now }: Trigger,
): Promise<Triggered> {
  const done: { tick?: Tick; jobs: ReadyJob[]; isCancelling: boolean } = { jobs: [], isCancelling: false }
  await alterSchedule(deps, call, {
    tool,
    now,
    async change(row, sql) {
      const policy = overlap ?? timingOf(row).overlap
      const open = (await readOpenTicks(sql, [tool], 1))(tool)
      const verdict = decideTick(policy, { ...open, waitingCount: open.buffered.filter(isOrdinary).length })
      if (verdict === 'skip') return undefined
      const start = { tickAt: await momentOf(sql, tool, now), origin: 'manual', isBuffered: false } as const
      if (verdict === 'buffer') {
        done.tick = { ...start, tool, fate: 'buffered', reason: null, invocationId: null }
      } else {
        const submitted = await submitStarts(sql, deps.depth, [{ row, starts: [start], now }])
        const invocationId = requireStart(submitted.answers[0]?.[0])
        done.tick = { ...start, tool, fate: 'fired', reason: null, invocationId }
        done.jobs = submitted.jobs
        done.isCancelling = policy === 'cancel_other'
        if (done.isCancelling) await overtake(sql, [tool])
      }
      await writeTicks(sql, [done.tick])
      return withCount(row, done.tick)
    },
    note: { action: 'schedule.trigger', detail: overlap === undefined ? {} : { overlap } },
  })
  const { tick } = done
  if (tick === undefined) return { kind: 'skipped' }
  announce(deps, { jobs: done.jobs, ticks: [tick] })
  if (done.isCancelling) await cancelOvertaken(deps, [tool])
  const { tickAt, invocationId } = tick
  return invocationId === null ? { kind: 'buffered', tickAt } : { kind: 'fired', tickAt, invocationId }
}

const withCount = (row: ScheduleRow, { fate }: Tick): ScheduleRow => ({
  ...row,
  fired_count: row.fired_count + (fate === 'fired' ? 1 : 0),
})

async function momentOf(sql: Sql, tool: string, now: Date): Promise<Date> {
  const { rows } = await sql.query<{ moment: Date }>(findMoment, [tool, now])
  const [row] = rows
  if (row !== undefined) return row.moment
  throw new AppError('rate_limited', `${tool} was triggered too often`, { retryAfterSeconds: 1 })
}
