import type { Span } from './spans-of.ts'
import { spansOf } from './spans-of.ts'

// The clock of a time zone: what it is ahead of UTC, and when that changes.

export type Zone = { spanAt(atMs: number): Span }

// The next five times of the rarest pattern, the fifth Monday of February, lie up to 180 years ahead. With 100 years kept
// each look at them cost 80 ms, with 250 it costs 1 ms.
const yearsMax = 250

// By the names that the platform has, of which there are some hundred: a formatter for each schedule would cost
// tens of kilobytes and as many microseconds each.
const zones = new Map<string, Zone>()

/** The zone of a name of the time zone database, or of an offset as +02:00. */
export function findZone(name: string): Zone | undefined {
  const known = zones.get(name)
  if (known !== undefined) return known
  const clock = createClock(name)
  if (clock === undefined) return undefined
  const { timeZone } = clock.resolvedOptions()
  const zone = zones.get(timeZone) ?? createZone(timeZone, clock)
  zones.set(timeZone, zone)
  return zone
}

function createClock(timeZone: string): Intl.DateTimeFormat | undefined {
  const digits = 'numeric'
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: digits,
      month: digits,
      day: digits,
      hour: digits,
      minute: digits,
      second: digits,
    })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function createZone(name: string, clock: Intl.DateTimeFormat): Zone {
  const years = new Map<number, readonly Span[]>()
  const offsetAt = (atMs: number) => shownAt(clock, atMs) - Math.floor(atMs / 1_000) * 1_000
  return {
    spanAt(atMs) {
      const year = new Date(atMs).getUTCFullYear()
      let spans = years.get(year)
      if (spans === undefined) {
        if (years.size >= yearsMax) years.clear()
        spans = spansOf(offsetAt, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1))
        years.set(year, spans)
      }
      const span = spans.find(({ toMs }) => atMs < toMs)
      if (span === undefined) throw new Error(`no span of ${name} holds ${atMs}`)
      return span
    },
  }
}

function shownAt(clock: Intl.DateTimeFormat, atMs: number): number {
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (
    clock.format(atMs).match(/\d+/g) ?? []
  ).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
