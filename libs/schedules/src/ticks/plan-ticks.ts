import type { Adopted } from '../schedules/adopt-versions.ts'
import type { ScheduleRow } from '../schedules/schedule.ts'
import { scheduleOf, timingOf } from '../schedules/schedule.ts'
import { ticksBetween } from '../rules/ticks.ts'
import type { Decision, OpenTicks } from './decide-ticks.ts'
import { decideTicks } from './decide-ticks.ts'
import type { Fate, Rest, Start } from './tick.ts'
import { rested } from './tick.ts'

/** Of one schedule, within one transaction. */
export const ticksMax = 1_000

export type Plan = Decision & Adopted & { due: readonly Date[]; now: Date }

/** The ticks of a schedule whose time has come and of which nothing is decided yet. */
export function dueTicks(row: ScheduleRow, now: Date): Date[] {
  const schedule = !row.is_active || row.paused_at !== null ? undefined : scheduleOf(row)
  return schedule === undefined ? [] : ticksBetween(schedule, row.last_tick_at, now, ticksMax)
}

export function planTicks(
  adopted: Adopted,
  { due, known, open, now }: { due: readonly Date[]; known: ReadonlySet<number>; open: OpenTicks; now: Date },
): Plan {
  const { row } = adopted
  const plan = { ...adopted, due, now }
  if (!row.is_active)
    return { ...plan, starts: [], rest: open.buffered.map(dropWaiting), isCancelling: false }
  // What waits goes on waiting.
  if (row.paused_at !== null) return { ...plan, starts: [], rest: [], isCancelling: false }
  // A tick that is there already has run, or will: whatever the schedule's row says.
  const fresh = due.filter((tickAt) => !known.has(tickAt.getTime()))
  return { ...plan, ...decideTicks({ due: fresh, now, timing: timingOf(row), open }) }
}

const dropWaiting = (one: OpenTicks['buffered'][number]): Rest =>
  rested({ ...one, isBuffered: true }, 'missed', 'not_scheduled')

/** What came of asking for a run. */
export type StartAnswer = { kind: 'accepted'; invocationId: string } | { kind: 'refused'; code: string }

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

/** What is written of a plan, once it is known which of its runs were accepted. `answers`: one for each start. */
export function settlePlan(plan: Plan, answers: readonly StartAnswer[]): Settlement {
  const { row, starts, due } = plan
  const refused = answers.findIndex(({ kind }) => kind === 'refused')
  const refusal = answers[refused]
  const before = { plan, fired: [], rest: [], until: row.last_tick_at, isCancelling: false }
  if (refusal?.kind === 'refused' && refusal.code === 'tool_changed') return { ...before, left: 'changed' }
  const fired = starts.flatMap((start, index) => {
    const answer = answers[index]
    return answer?.kind === 'accepted' ? [{ ...start, invocationId: answer.invocationId }] : []
  })
  const isCancelling = plan.isCancelling && fired.some(({ isBuffered }) => !isBuffered)
  const left = due.length === ticksMax ? 'more' : 'nothing'
  const until = due.at(-1) ?? row.last_tick_at
  if (refusal?.kind !== 'refused') return { plan, fired, rest: plan.rest, until, isCancelling, left }
  const stopped = starts[refused]
  if (isPassing(refusal.code) && stopped !== undefined) {
    // From the first that finds no room on, nothing is decided.
    const isDecided = (tickAt: Date) => !stopped.isBuffered && tickAt < stopped.tickAt
    const decided = due.findLast(isDecided) ?? row.last_tick_at
    const rest = plan.rest.filter(({ tickAt }) => isDecided(tickAt))
    return { plan, fired: fired.slice(0, refused), rest, until: decided, isCancelling: false, left: 'full' }
  }
  const lost = starts.flatMap((start, index): Rest[] => {
    const answer = answers[index]
    return answer?.kind === 'refused' ? [{ ...start, fate: 'missed', reason: answer.code }] : []
  })
  // What was to give way to a run that was refused did not run for the same reason.
  const gaveWay = plan.rest.map((one): Rest =>
    givenWay(one.fate) ? { ...one, fate: 'missed', reason: refusal.code } : one,
  )
  return { plan, fired, rest: [...gaveWay, ...lost], until, isCancelling, left }
}

const givenWay = (fate: Fate) => fate === 'skipped' || fate === 'buffered'
