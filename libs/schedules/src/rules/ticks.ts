import assert from 'node:assert/strict'
import { firstTime } from './pattern.ts'
import type { ClockTimes, Schedule } from './schedule.ts'
import type { Span } from './spans-of.ts'

// Between two of a pattern's days lie at most forty years: the fifth Monday of February, around 2100.
const silenceMaxMs = 41 * 366 * 86_400_000

const hourMs = 3_600_000

// Outside of these years nothing is due.
const earliestMs = Date.UTC(1970, 0, 1)
const latestMs = Date.UTC(10_000, 0, 1) - 1

/** The ticks after `after` up to and with `until`, the oldest first; the first `max` of them. */
export function ticksBetween(schedule: Schedule, after: Date, until: Date, max: number): Date[] {
  const untilMs = instantOf(until)
  const ticks: Date[] = []
  let atMs = instantOf(after)
  while (ticks.length < max) {
    const tickMs = nextTick(schedule, atMs, untilMs)
    if (tickMs === undefined) break
    ticks.push(new Date(tickMs))
    atMs = tickMs
  }
  return ticks
}

/** The next ticks after `after`. */
export function nextTicks(schedule: Schedule, after: Date, count: number): Date[] {
  const ticks: Date[] = []
  let atMs = instantOf(after)
  while (ticks.length < count) {
    const tickMs = nextTick(schedule, atMs, atMs + silenceMaxMs)
    if (tickMs === undefined) break
    ticks.push(new Date(tickMs))
    atMs = tickMs
  }
  return ticks
}

export function lastTick(schedule: Schedule, atOrBefore: Date): Date | undefined {
  const untilMs = instantOf(atOrBefore)
  let tickMs: number | undefined
  for (let backMs = hourMs; tickMs === undefined; backMs *= 2) {
    if (backMs > 2 * silenceMaxMs) return undefined
    tickMs = nextTick(schedule, untilMs - backMs, untilMs)
  }
  let noneAfterMs = untilMs
  while (noneAfterMs - tickMs >= 1_000) {
    const middleMs = tickMs + Math.floor((noneAfterMs - tickMs) / 2)
    const laterMs = nextTick(schedule, middleMs, untilMs)
    if (laterMs === undefined) noneAfterMs = middleMs
    else tickMs = laterMs
  }
  return new Date(tickMs)
}

function instantOf(date: Date): number {
  const atMs = date.getTime()
  assert.ok(!Number.isNaN(atMs), 'ticks are asked for at a time that is none')
  return Math.min(Math.max(atMs, earliestMs), latestMs)
}

/** The first tick after `afterMs` up to and with `untilMs`. */
function nextTick({ zone, times }: Schedule, afterMs: number, untilMs: number): number | undefined {
  const fromMs = Math.floor(Math.max(afterMs, earliestMs) / 1_000) * 1_000 + 1_000
  const beforeMs = Math.min(untilMs, latestMs) + 1
  if (times.kind === 'elapsed') {
    const tickMs = Math.ceil(fromMs / times.everyMs) * times.everyMs
    return tickMs < beforeMs ? tickMs : undefined
  }
  let atMs = fromMs
  while (atMs < beforeMs) {
    const span = zone.spanAt(atMs)
    const tickMs = firstInSpan(times, span, atMs)
    if (tickMs !== undefined) return tickMs < beforeMs ? tickMs : undefined
    atMs = span.toMs
  }
  return undefined
}

/** The first tick at `atMs` or later in its span: here times of the clock become instants. */
function firstInSpan(times: ClockTimes, span: Span, atMs: number): number | undefined {
  const { fromMs, toMs, offsetMs, offsetBeforeMs } = span
  if (atMs === fromMs && times.madeUp) {
    // What the clock has left out, if it was put forward.
    const missing = firstTime(times.pattern, fromMs + offsetBeforeMs, fromMs + offsetMs)
    if (missing !== undefined) return fromMs
  }
  // What the clock shows for the second time, if it was put back, ends at what it showed just before.
  const newFromMs = times.repeated ? -Infinity : fromMs + offsetBeforeMs
  const time = firstTime(times.pattern, Math.max(atMs + offsetMs, newFromMs), toMs + offsetMs)
  return time === undefined ? undefined : time - offsetMs
}
