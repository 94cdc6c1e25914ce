import type { AppError } from '@toolyard/contract/errors'
import type { Adopted } from '../schedules/adopt-versions.ts'
import type { ScheduleRow } from '../schedules/schedule.ts'
import { scheduleOf, timingOf } from '../schedules/schedule.ts'
import { ticksBetween } from '../rules/ticks.ts'
import type { Decision, OpenTicks } from './decide-ticks.ts'
import { decideTicks, isOrdinary } from './decide-ticks.ts'
import type { Fate, Rest, Start } from './tick.ts'
import { rested } from './tick.ts'

/** Of all schedules of one transaction. */
export const ticksMax = 1_000
// A run may be given 64 KiB of state.
const startsMax = 200

/** How much of a schedule one transaction settles at most. */
export type Share = { ticks: number; starts: number }

/** Each of so many schedules has its share in every transaction, so that none waits for another to catch up. */
export function shareOf(schedules: number): Share {
  const of = (max: number) => Math.floor(max / Math.min(Math.max(schedules, 1), max))
  return { ticks: of(ticksMax), starts: of(startsMax) }
}

/** `isCut`: there is more than that. */
export type Due = { due: readonly Date[]; isCut: boolean }

type PlanFacts = Due & { known: ReadonlySet<number>; open: OpenTicks; now: Date; share: Share }

export type Plan = Decision & Adopted & Due

/** The ticks of a schedule whose time has come and of which nothing is decided yet: the first `max` of them. */
export function dueTicks(row: ScheduleRow, now: Date, max: number): Due {
  const schedule = !row.is_active || row.paused_at !== null ? undefined : scheduleOf(row)
  const ticks = schedule === undefined ? [] : ticksBetween(schedule, row.last_tick_at, now, max + 1)
  return { due: ticks.slice(0, max), isCut: ticks.length > max }
}

export function planTicks(adopted: Adopted, { due, isCut, known, open, now, share }: PlanFacts): Plan {
  const { row } = adopted
  const plan = { ...adopted, due, isCut }
  if (!row.is_active) {
    const rest = open.buffered.slice(0, share.ticks).map(dropWaiting)
    return { ...plan, isCut: rest.length < open.buffered.length, starts: [], rest, isCancelling: false }
  }
  // What waits goes on waiting.
  if (row.paused_at !== null) return { ...plan, starts: [], rest: [], isCancelling: false }
  // A tick that is there already has run, or will: whatever the schedule's row says.
  const fresh = due.filter((tickAt) => !known.has(tickAt.getTime()))
  return { ...plan, ...decideTicks({ due: fresh, isCut, now, timing: timingOf(row), open }) }
}

const dropWaiting = (one: OpenTicks['buffered'][number]): Rest =>
  rested({ ...one, isBuffered: true }, 'missed', 'not_scheduled')

/** What came of asking for a run. */
export type StartAnswer =
  | { kind: 'accepted'; invocationId: string }
  | { kind: 'refused'; code: string; refusal: AppError }

export type Settlement = {
  plan: Plan
  fired: (Start & { invocationId: string })[]
  rest: Rest[]
  /** What became of the ticks up to here is decided. */
  until: Date
  isCancelling: boolean
  /**
   * What there is still to settle. `more`: further ticks; `changed`: all of it, for the tool has another version by now;
   * `full`: those that the queue has no room for.
   */
  left: 'nothing' | 'more' | 'changed' | 'full'
}

// Over in a moment: the tick is tried again, for as long as it is not too late.
const isPassing = (code: string) => code === 'queue_full'

/** What is written of a plan, once it is known which of its runs were accepted. `answers`: of the first of its starts. */
export function settlePlan(plan: Plan, answers: readonly StartAnswer[]): Settlement {
  const { row, starts } = plan
  const refusedAs = (is: (code: string) => boolean) =>
    answers.findIndex((answer) => answer.kind === 'refused' && is(answer.code))
  if (refusedAs((code) => code === 'tool_changed') !== -1)
    return { plan, fired: [], rest: [], until: row.last_tick_at, isCancelling: false, left: 'changed' }
  const full = refusedAs(isPassing)
  const answered = full === -1 ? answers : answers.slice(0, full)
  const { due, rest } = decidedBefore(plan, starts[answered.length])
  const fired: Settlement['fired'] = []
  const lost: Rest[] = []
  answered.forEach((answer, index) => {
    const start = starts[index]
    if (start === undefined) throw new Error('a plan was answered with more than it asked for')
    if (answer.kind === 'accepted') fired.push({ ...start, invocationId: answer.invocationId })
    else lost.push(rested(start, 'missed', answer.code))
  })
  // What was to give way to a run that was refused did not run for the same reason.
  const [first] = lost
  const gaveWay = (one: Rest): Rest =>
    first !== undefined && isGivenWay(one.fate) ? { ...one, fate: 'missed', reason: first.reason } : one
  const isMore = plan.isCut || answered.length < starts.length
  return {
    plan,
    fired,
    rest: [...rest.map(gaveWay), ...lost],
    until: due.at(-1) ?? row.last_tick_at,
    isCancelling: plan.isCancelling && fired.some(({ isBuffered }) => !isBuffered),
    left: full !== -1 ? 'full' : isMore ? 'more' : 'nothing',
  }
}

/** From the first start on that was not tried, or that finds no room, nothing is decided. */
function decidedBefore({ due, rest }: Plan, stopped: Start | undefined): Pick<Plan, 'due' | 'rest'> {
  if (stopped === undefined) return { due, rest }
  const isBefore = (tickAt: Date) => (stopped.isBuffered ? !isOrdinary(stopped) : tickAt < stopped.tickAt)
  return { due: due.filter(isBefore), rest: rest.filter(({ tickAt }) => isBefore(tickAt)) }
}

const isGivenWay = (fate: Fate) => fate === 'skipped' || fate === 'buffered'
