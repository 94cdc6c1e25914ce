import type { Sql } from '@toolyard/db/pool'
import type { ReadyJob } from '@toolyard/invocations/after-commit'
import type { QueueDepth } from '@toolyard/invocations/queue-depth'
import { adoptVersions } from '../schedules/adopt-versions.ts'
import type { LockedSchedule } from '../schedules/lock-schedules.ts'
import type { ScheduleRow, Timing } from '../schedules/schedule.ts'
import { isSameTime, later, nextTickOf } from '../schedules/schedule.ts'
import { moveSchedules, writeSchedules } from '../schedules/write-schedules.ts'
import type { Settlement } from './plan-ticks.ts'
import { dueTicks, planTicks, settlePlan, shareOf } from './plan-ticks.ts'
import { readKnownTicks, readOpenTicks } from './read-open-ticks.ts'
import { submitStarts } from './submit-starts.ts'
import type { Tick } from './tick.ts'
import { toTick } from './tick.ts'
import { overtake, writeTicks } from './write-ticks.ts'

export type Settled = {
  /** As they stand now, in the order in which they came. */
  rows: ScheduleRow[]
  ticks: Tick[]
  /** For the queue, once this is committed. */
  jobs: ReadyJob[]
  /** Tools that need another turn at once. */
  again: string[]
  /** Tools whose runs are to be cancelled for newer ones. */
  cancelling: string[]
}

/**
 * Brings schedules that this transaction has locked up to `now`: the version that serves, the ticks that wait, the ticks
 * that are due. It is the same for one that was settled a moment ago, and for one that nobody has looked at for days.
 */
export async function settle(
  sql: Sql,
  depth: QueueDepth,
  locked: readonly LockedSchedule[],
  now: Date,
): Promise<Settled> {
  const adopted = await adoptVersions(sql, locked, now)
  const share = shareOf(locked.length)
  const questions = adopted.map((one) => ({ adopted: one, asked: dueTicks(one.row, now, share.ticks) }))
  const [openOf, knownOf] = await Promise.all([
    readOpenTicks(
      sql,
      locked.map(({ tool }) => tool),
      // So it shows where there are more.
      share.ticks + 1,
    ),
    readKnownTicks(
      sql,
      questions.flatMap(({ adopted: { row }, asked }) =>
        asked.due.map((tickAt) => ({ tool: row.tool, tickAt })),
      ),
    ),
  ])
  const plans = questions.map(({ adopted: one, asked }) => {
    const { tool } = one.row
    return planTicks(one, { ...asked, known: knownOf(tool), open: openOf(tool), now, share })
  })
  const tried = plans.map(({ row, starts }) => ({ row, starts: starts.slice(0, share.starts), now }))
  const { answers, jobs } = await submitStarts(sql, depth, tried)
  const settlements = plans.map((plan, index) => settlePlan(plan, answers[index] ?? []))
  const cancelling = settlements.filter((one) => one.isCancelling).map(toolOf)
  const ticks = settlements.flatMap(toTicks)
  const moves = settlements.map((one) => move(one, now))
  await Promise.all([
    overtake(sql, cancelling),
    writeTicks(sql, ticks),
    writeSchedules(
      sql,
      moves.filter(({ isChanged }) => isChanged).map(({ after }) => after),
    ),
    moveSchedules(
      sql,
      moves.filter((one) => !one.isChanged && hasMoved(one)).map(({ after }) => after),
    ),
  ])
  const again = settlements.filter(({ left }) => left === 'more' || left === 'changed').map(toolOf)
  return { rows: moves.map(({ after }) => after), ticks, jobs, again, cancelling }
}

const toolOf = ({ plan }: Settlement) => plan.row.tool

function toTicks({ plan, fired, rest }: Settlement): Tick[] {
  const { tool } = plan.row
  return [
    ...fired.map(({ tickAt, origin, invocationId }) => ({
      tool,
      tickAt,
      origin,
      fate: 'fired' as const,
      reason: null,
      invocationId,
    })),
    ...rest.map((one) => toTick(tool, one)),
  ]
}

type Move = { before: ScheduleRow; after: ScheduleRow; isChanged: boolean }

/** What the row of a schedule becomes. */
function move(settlement: Settlement, now: Date): Move {
  const { plan, until, fired, rest } = settlement
  const { row, isChanged } = plan
  const count = (fate: string) => rest.filter((one) => one.fate === fate).length
  const counted = {
    ...row,
    last_tick_at: until,
    fired_count: row.fired_count + fired.length,
    skipped_count: row.skipped_count + count('skipped'),
    missed_count: row.missed_count + count('missed'),
  }
  const after = isChanged ? changeVersion(counted, settlement, now) : counted
  return { before: plan.before, after: { ...after, next_tick_at: nextTickOf(after) }, isChanged }
}

/** Where ticks of before are left, the version of before stays until they are settled. */
function changeVersion(row: ScheduleRow, { plan, left }: Settlement, now: Date): ScheduleRow {
  const { hash, call, is_active } = plan.before
  return left === 'nothing' ? retime(row, plan.asked, now) : { ...row, hash, call, is_active }
}

/** The timing of a new version counts from now on, once all that was due before has been settled. */
function retime(row: ScheduleRow, asked: Timing, now: Date): ScheduleRow {
  const after = { ...row, asked }
  return isSameTime(row, after) ? after : { ...after, last_tick_at: later(row.last_tick_at, now) }
}

const hasMoved = ({ before, after }: Move): boolean =>
  after.fired_count !== before.fired_count ||
  after.skipped_count !== before.skipped_count ||
  after.missed_count !== before.missed_count ||
  after.last_tick_at.getTime() !== before.last_tick_at.getTime() ||
  after.next_tick_at?.getTime() !== before.next_tick_at?.getTime()
