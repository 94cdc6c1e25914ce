import type { Call } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import { ticksBetween } from '../rules/ticks.ts'
import { alterSchedule } from '../schedules/alter-schedule.ts'
import type { ScheduleRow } from '../schedules/schedule.ts'
import { scheduleOf } from '../schedules/schedule.ts'
import type { ScheduleDeps } from './fire-due.ts'
import { fireDue } from './fire-due.ts'
import { readOpenTicks } from './read-open-ticks.ts'

export type Backfill = {
  tool: string
  from: Date
  until: Date
  now: Date
  /** For so long it is known what became of a tick: an older one may have run already. */
  knownDays: number
}

export type Backfilled = {
  /** Ticks that run now, or one after the other, the oldest first. */
  added: number
  /** Ticks of the range that have run, or wait to. */
  already: number
}

const ticksMax = 1_000
const dayMs = 86_400_000

// What was skipped or missed is made up for; what has run, or waits to, stays as it is.
// index: ticks_pkey
const wait = `
  insert into ticks as known (tool, tick_at, origin, fate)
  select $1, tick_at, 'backfill', 'buffered' from unnest($2::timestamptz[]) as wanted (tick_at)
  on conflict (tool, tick_at) do update
  set origin = 'backfill', fate = 'buffered', reason = null, ended_at = null, written_at = clock_timestamp()
  where known.fate in ('skipped', 'missed')`

/**
 * Runs the ticks of a range that did not run, each once. Those up to the last that is settled: later ones are the
 * schedule's own. They wait like ticks that are buffered, so that they keep their order and never run beside each other
 * unless the schedule allows it; of a schedule that is paused they wait until it goes on.
 */
export async function backfill(
  deps: ScheduleDeps,
  call: Call,
  { tool, from, until, now, knownDays }: Backfill,
): Promise<Backfilled> {
  refuseRange({ from, until, now, knownDays })
  const done: Backfilled = { added: 0, already: 0 }
  await alterSchedule(deps, call, {
    tool,
    now,
    async change(row, sql) {
      const ticks = ticksOf(row, from, until)
      await refuseTooMany(sql, tool, ticks.length)
      const { rowCount } = await sql.query(wait, [tool, ticks.map((tickAt) => tickAt.toISOString())])
      done.added = rowCount ?? 0
      done.already = ticks.length - done.added
      return row
    },
    note: { action: 'schedule.backfill', detail: { from: from.toISOString(), until: until.toISOString() } },
  })
  await fireDue(deps, [tool], now)
  return done
}

function ticksOf(row: ScheduleRow, from: Date, until: Date): Date[] {
  const schedule = scheduleOf(row)
  if (schedule === undefined) throw refusal('/tool', 'has a schedule that cannot be read')
  const last = until < row.last_tick_at ? until : row.last_tick_at
  // The range holds both its ends.
  return ticksBetween(schedule, new Date(from.getTime() - 1), last, ticksMax + 1)
}

async function refuseTooMany(sql: Sql, tool: string, count: number): Promise<void> {
  if (count > ticksMax) throw refusal('/until', `must be earlier: the range has more than ${ticksMax} ticks`)
  const { buffered } = (await readOpenTicks(sql, [tool], ticksMax))(tool)
  if (buffered.length + count <= ticksMax) return
  const detail = `must be earlier: ${buffered.length} ticks wait already, and ${ticksMax} may`
  throw refusal('/until', detail)
}

function refuseRange({ from, until, now, knownDays }: Omit<Backfill, 'tool'>): void {
  if (!(from <= until)) throw refusal('/until', 'must not be before "from"')
  if (until > now) throw refusal('/until', 'must not be in the future')
  if (now.getTime() - from.getTime() <= knownDays * dayMs) return
  const reason = 'what ran before is not known any more'
  throw refusal('/from', `must not be more than ${knownDays} days ago (YARD_KEEP_TICKS_DAYS): ${reason}`)
}

function refusal(pointer: string, detail: string): AppError {
  return new AppError('invalid_request', 'The request has faults', { faults: [{ pointer, detail }] })
}
