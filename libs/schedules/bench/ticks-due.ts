import { readSchedule } from '../src/rules/schedule.ts'
import { lastTick, nextTicks, ticksBetween } from '../src/rules/ticks.ts'

/** Of one core. */
type TicksDueBench = {
  schedules: number
  readMs: number
  /** All schedules asked for what was due in the minute before, with nothing known of their zones. */
  firstMinuteMs: number
  /** The mean of the minutes after that. */
  minuteMs: number
  slowestMinuteMs: number
  ticks: number
  /** All schedules asked for a day that was missed, at most a hundred ticks each. */
  missedDayMs: number
  nextFiveMs: number
  lastMs: number
}

const patterns = ['*/30', '*/5 * * * *', '0 * * * *', '30 2 * * *', '0 9-17 * * MON-FRI', '0 0 L * *'].concat(
  ['*/90', '15 8,20 * * *', '0 12 * * FRI#2', '*/20 * * * * *', '0 0 29 2 *', '7 3 1 1 *'],
)

const minuteMs = 60_000

/** How long it takes to find what is due of many schedules, in forty zones. */
export function benchTicksDue(count = 10_000, minutes = 60): TicksDueBench {
  const zones = Intl.supportedValuesOf('timeZone')
    .filter((_, index) => index % 10 === 0)
    .slice(0, 40)
  // The night in which most clocks of Europe are put back.
  const startMs = Date.UTC(2026, 9, 25, 0, 30)
  const [schedules, readMs] = timed(() =>
    Array.from({ length: count }, (_, index) => {
      const read = readSchedule(patterns[index % patterns.length] ?? '', zones[index % zones.length] ?? '')
      if ('faults' in read) throw new Error(JSON.stringify(read.faults))
      return read.schedule
    }),
  )
  const due = (fromMs: number, toMs: number, max: number) =>
    schedules.reduce(
      (sum, schedule) => sum + ticksBetween(schedule, new Date(fromMs), new Date(toMs), max).length,
      0,
    )
  const tookMs: number[] = []
  let ticks = 0
  for (let index = 0; index < minutes; index++) {
    const atMs = startMs + index * minuteMs
    const [found, ms] = timed(() => due(atMs, atMs + minuteMs, 100))
    ticks += found
    tookMs.push(ms)
  }
  const [firstMinuteMs = Number.NaN, ...otherMs] = tookMs
  const now = new Date(startMs)
  return {
    schedules: count,
    readMs,
    firstMinuteMs,
    minuteMs: otherMs.reduce((sum, ms) => sum + ms, 0) / otherMs.length,
    slowestMinuteMs: Math.max(...otherMs),
    ticks,
    missedDayMs: timed(() => due(startMs, startMs + 1_440 * minuteMs, 100))[1],
    nextFiveMs: timed(() => schedules.map((schedule) => nextTicks(schedule, now, 5)))[1],
    lastMs: timed(() => schedules.map((schedule) => lastTick(schedule, now)))[1],
  }
}

function timed<T>(work: () => T): [T, number] {
  const beganMs = performance.now()
  const result = work()
  return [result, performance.now() - beganMs]
}
