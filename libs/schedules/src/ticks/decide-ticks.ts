import type { Overlap, Timing } from '../schedules/schedule.ts'
import type { Rest, Start } from './tick.ts'
import { rested } from './tick.ts'

// Whose alarm is a moment late is not late.
const graceSeconds = 10

/** How late a tick may be and still run. */
const windowMs = ({ catch_up_seconds: seconds }: Pick<Timing, 'catch_up_seconds'>) =>
  Math.max(seconds, graceSeconds) * 1_000

/** What runs of a tool's ticks, and which wait for that, the oldest first. */
export type OpenTicks = { runningCount: number; buffered: readonly Pick<Start, 'tickAt' | 'origin'>[] }

export const noOpenTicks: OpenTicks = { runningCount: 0, buffered: [] }

export type TickQuestion = {
  /** Whose time has come, the oldest first. */
  due: readonly Date[]
  now: Date
  timing: Pick<Timing, 'overlap' | 'catch_up_seconds'>
  open: OpenTicks
}

export type Decision = {
  starts: Start[]
  rest: Rest[]
  /** What runs gives way to what starts. */
  isCancelling: boolean
}

/** What becomes of ticks: those that waited first, then those that are due. Nothing here looks at a clock. */
export function decideTicks({ due, now, timing, open }: TickQuestion): Decision {
  const { overlap } = timing
  const waking = wake(overlap, open)
  const decision: Decision = { starts: waking, rest: [], isCancelling: false }
  let runningCount = open.runningCount + waking.length
  let waitingCount = countOrdinary(open.buffered) - countOrdinary(waking)
  const oldestMs = now.getTime() - windowMs(timing)
  for (const tickAt of due) {
    const tick: Start = { tickAt, origin: 'schedule', isBuffered: false }
    if (tickAt.getTime() < oldestMs) {
      decision.rest.push(rested(tick, 'missed', 'late'))
      continue
    }
    const verdict = decideTick(overlap, { runningCount, waitingCount })
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
  return overlap === 'cancel_other' ? keepNewest(decision) : decision
}

/** What becomes of one more tick while so many run, and so many wait that no backfill brought. */
export function decideTick(
  overlap: Overlap,
  { runningCount, waitingCount }: { runningCount: number; waitingCount: number },
): 'start' | 'buffer' | 'skip' {
  if (overlap === 'allow' || overlap === 'cancel_other' || runningCount === 0) return 'start'
  return overlap === 'buffer_one' && waitingCount === 0 ? 'buffer' : 'skip'
}

/** Those that waited: one after the other, unless all may run at once. */
function wake(overlap: Overlap, { runningCount, buffered }: OpenTicks): Start[] {
  const room = overlap === 'allow' ? buffered.length : runningCount === 0 ? 1 : 0
  return buffered.slice(0, room).map(({ tickAt, origin }) => ({ tickAt, origin, isBuffered: true }))
}

/** A backfill may bring many that wait, and is not what `buffer_one` speaks of. */
export const countOrdinary = (ticks: readonly Pick<Start, 'origin'>[]) =>
  ticks.filter(({ origin }) => origin !== 'backfill').length

/** Of several that are due at once, to start the older ones would be to cancel them. */
function keepNewest({ starts, rest }: Decision): Decision {
  const due = starts.filter(({ isBuffered }) => !isBuffered)
  const newest = due.at(-1)
  if (newest === undefined) return { starts, rest, isCancelling: false }
  const overtaken = starts.filter((one) => one !== newest && !one.isBuffered)
  return {
    starts: [newest],
    rest: [...rest, ...overtaken.map((one) => rested(one, 'skipped', 'overtaken'))],
    isCancelling: true,
  }
}
