import type { Overlap, Timing } from '../schedules/schedule.ts'
import type { Rest, Start } from './tick.ts'
import { rested } from './tick.ts'

// Whose alarm is a moment late is not late.
const graceSeconds = 10

/** How late a tick may be and still run. */
const windowMs = ({ catch_up_seconds: seconds }: Pick<Timing, 'catch_up_seconds'>) =>
  Math.max(seconds, graceSeconds) * 1_000

export type OpenTicks = {
  /** How many run of a tool's ticks. */
  runningCount: number
  /** How many of these a backfill brought. */
  backfillCount: number
  /** Which wait for what runs: the first of them, those of a backfill after all others and else the oldest first. */
  buffered: readonly Waiting[]
}

type Waiting = Pick<Start, 'tickAt' | 'origin'>

export const noOpenTicks: OpenTicks = { runningCount: 0, backfillCount: 0, buffered: [] }

export type TickQuestion = {
  /** Whose time has come, the oldest first. */
  due: readonly Date[]
  /** Newer ones are due as well. */
  isCut: boolean
  now: Date
  timing: Pick<Timing, 'overlap' | 'catch_up_seconds'>
  open: OpenTicks
}

export type Decision = {
  /** In their order: ticks that waited, ticks that are due, what is left of a backfill. */
  starts: Start[]
  rest: Rest[]
  /** What runs gives way to what starts. */
  isCancelling: boolean
}

/** What becomes of ticks. Those of a backfill come after all others. Nothing here looks at a clock. */
export function decideTicks({ due, isCut, now, timing, open }: TickQuestion): Decision {
  const { overlap } = timing
  const { backfillCount } = open
  const waiting = open.buffered.filter(isOrdinary)
  const waking = wake(overlap, open.runningCount, waiting)
  const decision: Decision = { starts: waking, rest: [], isCancelling: false }
  let runningCount = open.runningCount + waking.length
  let waitingCount = waiting.length - waking.length
  const oldestMs = now.getTime() - windowMs(timing)
  for (const tickAt of due) {
    const tick: Start = { tickAt, origin: 'schedule', isBuffered: false }
    if (tickAt.getTime() < oldestMs) {
      decision.rest.push(rested(tick, 'missed', 'late'))
      continue
    }
    const verdict = decideTick(overlap, { runningCount, backfillCount, waitingCount })
    if (verdict === 'skip') decision.rest.push(rested(tick, 'skipped', 'overlap'))
    if (verdict === 'buffer') {
      decision.rest.push(rested(tick, 'buffered', null))
      waitingCount += 1
    }
    if (verdict === 'start') {
      decision.starts.push(tick)
      runningCount += 1
    }
  }
  // What is newer than what was cut off goes before it, too.
  const backfill = isCut ? [] : open.buffered.filter((one) => !isOrdinary(one))
  decision.starts.push(...wake(overlap, runningCount, backfill))
  return overlap === 'cancel_other' ? keepNewest(decision, isCut) : decision
}

/** What becomes of one more tick while so many run, and so many wait that no backfill brought. */
export function decideTick(
  overlap: Overlap,
  { runningCount, backfillCount, waitingCount }: Omit<OpenTicks, 'buffered'> & { waitingCount: number },
): 'start' | 'buffer' | 'skip' {
  if (overlap === 'allow' || overlap === 'cancel_other' || runningCount === 0) return 'start'
  // A backfill may go on for days: no tick is left out for that.
  const mayWait = overlap === 'buffer_one' || runningCount === backfillCount
  return mayWait && waitingCount === 0 ? 'buffer' : 'skip'
}

/** Those that waited: one after the other, unless all may run at once. */
function wake(overlap: Overlap, runningCount: number, waiting: readonly Waiting[]): Start[] {
  const room = overlap === 'allow' ? waiting.length : runningCount === 0 ? 1 : 0
  return waiting.slice(0, room).map(({ tickAt, origin }) => ({ tickAt, origin, isBuffered: true }))
}

/** A backfill may bring many that wait, and is not what `buffer_one` speaks of. */
export const isOrdinary = ({ origin }: Pick<Start, 'origin'>) => origin !== 'backfill'

/** Of several that are due at once, to start the older ones would be to cancel them. */
function keepNewest({ starts, rest }: Decision, isCut: boolean): Decision {
  const due = starts.filter(({ isBuffered }) => !isBuffered)
  if (due.length === 0) return { starts, rest, isCancelling: false }
  const newest = isCut ? [] : due.slice(-1)
  const overtaken = due.slice(0, due.length - newest.length)
  return {
    starts: newest,
    rest: [...rest, ...overtaken.map((one) => rested(one, 'skipped', 'overtaken'))],
    isCancelling: newest.length > 0,
  }
}
