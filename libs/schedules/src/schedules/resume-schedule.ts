import type { Call } from '@toolyard/access/actor'
import type { Sql } from '@toolyard/db/pool'
import { ticksBetween } from '../rules/ticks.ts'
import type { ScheduleDeps } from '../ticks/fire-due.ts'
import { fireDue } from '../ticks/fire-due.ts'
import { ticksMax } from '../ticks/plan-ticks.ts'
import { readKnownTicks, readOpenTicks } from '../ticks/read-open-ticks.ts'
import type { Rest } from '../ticks/tick.ts'
import { rested, toTick } from '../ticks/tick.ts'
import { writeTicks } from '../ticks/write-ticks.ts'
import { alterSchedule } from './alter-schedule.ts'
import type { ScheduleRow } from './schedule.ts'
import { later, scheduleOf } from './schedule.ts'

export type Resumption = {
  tool: string
  /** Whether what was due during the pause is made up for, as far as `catch_up_seconds` reaches. */
  catchUp: boolean
  now: Date
}

/** Ends a pause, and counts failures anew. Runs that were asked for and wait begin; a tick that waited is skipped. */
export async function resumeSchedule(
  deps: ScheduleDeps,
  call: Call,
  { tool, catchUp, now }: Resumption,
): Promise<ScheduleRow> {
  const row = await alterSchedule(deps, call, {
    tool,
    now,
    async change(paused, sql) {
      if (paused.paused_at === null) return undefined
      const resumed = { ...paused, paused_at: null, paused_reason: null, failures: 0 }
      if (catchUp) return resumed
      const rest = [...(await waiting(sql, tool)), ...(await missedBefore(sql, paused, paused.paused_at))]
      await writeTicks(
        sql,
        rest.map((one) => toTick(tool, one)),
      )
      const count = (fate: string) => rest.filter((one) => one.fate === fate).length
      return {
        ...resumed,
        last_tick_at: later(paused.last_tick_at, now),
        skipped_count: paused.skipped_count + count('skipped'),
        missed_count: paused.missed_count + count('missed'),
      }
    },
    note: { action: 'schedule.resume', detail: { catch_up: catchUp } },
  })
  await fireDue(deps, [tool], now)
  return row
}

async function waiting(sql: Sql, tool: string): Promise<Rest[]> {
  const { buffered } = (await readOpenTicks(sql, [tool], ticksMax))(tool)
  return buffered
    .filter(({ origin }) => origin === 'schedule')
    .map((one) => rested({ ...one, isBuffered: true }, 'skipped', 'paused'))
}

/** What was due before the pause began, and found it paused already: failures pause it between two looks. */
async function missedBefore(sql: Sql, row: ScheduleRow, pausedAt: Date): Promise<Rest[]> {
  const schedule = scheduleOf(row)
  if (schedule === undefined) return []
  const due = ticksBetween(schedule, row.last_tick_at, pausedAt, ticksMax)
  const known = (
    await readKnownTicks(
      sql,
      due.map((tickAt) => ({ tool: row.tool, tickAt })),
    )
  )(row.tool)
  return due
    .filter((tickAt) => !known.has(tickAt.getTime()))
    .map((tickAt) => rested({ tickAt, origin: 'schedule', isBuffered: false }, 'missed', 'paused'))
}
