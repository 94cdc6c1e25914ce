import { nearestWord } from '@toolyard/contract/nearest-word'
import type { Pattern } from './pattern.ts'
import { firstTime } from './pattern.ts'
import { readPattern } from './read-pattern.ts'
import type { Zone } from './zone.ts'
import { findZone } from './zone.ts'

// docs/schedules.md says what is accepted and what a change of the clock does.

export type Schedule = {
  readonly zone: Zone
  readonly times: ClockTimes | ElapsedTimes
}

/** When the clock of the zone shows it. */
export type ClockTimes = {
  readonly kind: 'clock'
  readonly pattern: Pattern
  /** A time that the clock leaves out is made up for as soon as there is one again. */
  readonly madeUp: boolean
  /** A time that the clock shows twice counts twice. */
  readonly repeated: boolean
}

/** Whatever the clocks do. */
type ElapsedTimes = { readonly kind: 'elapsed'; readonly everyMs: number }

export type ScheduleFault = { field: 'schedule' | 'timezone'; detail: string }

const textMax = 200
const minuteMs = 60_000
const weekMinutes = 10_080

const nicknames: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
])

const everyMinutes = /^\*\/(\d+)$/

/** What rings for a schedule that can be read. It need not ring exactly: ticks are worked out when it does. */
export function alarmRule(
  text: string,
  timezone: string,
): { pattern: string; timezone: string } | { everyMs: number } {
  const words = text.trim()
  const every = Number(everyMinutes.exec(words)?.[1])
  if (every > 0 && 60 % every !== 0) return { everyMs: every * minuteMs }
  return { pattern: spelledOut(words) ?? words, timezone }
}

export function readSchedule(
  text: string,
  timezone: string,
): { schedule: Schedule } | { faults: ScheduleFault[] } {
  const zone = findZone(timezone)
  const read = readTimes(text)
  const faults: ScheduleFault[] = []
  if ('details' in read)
    faults.push(...read.details.map((detail) => ({ field: 'schedule' as const, detail })))
  if (zone === undefined) faults.push({ field: 'timezone', detail: describeZone(timezone) })
  return 'times' in read && zone !== undefined ? { schedule: { zone, times: read.times } } : { faults }
}

type Read = { times: Schedule['times'] } | { details: string[] }

function readTimes(text: string): Read {
  if (text.length > textMax) return { details: [`must have at most ${textMax} characters`] }
  const fields = text.split(/\s+/).filter((field) => field !== '')
  const [first = ''] = fields
  if (fields.length === 1) return readOneField(first)
  if (fields.length !== 5 && fields.length !== 6)
    return { details: [`must have 1, 5 or 6 fields, as */30 or 0 8 * * 1-5, not ${fields.length}`] }
  return readClockTimes(fields)
}

/** One field in the words of five, where it is of the clock. */
function spelledOut(field: string): string | undefined {
  const every = Number(everyMinutes.exec(field)?.[1])
  // An hour of the clock holds these evenly. The others would begin anew each hour: */45 at minutes 0 and 45.
  if (60 % every === 0) return every === 60 ? '0 * * * *' : `*/${every} * * * *`
  return nicknames.get(field.toLowerCase())
}

function readOneField(field: string): Read {
  const minutes = everyMinutes.exec(field)?.[1]
  const spelled = spelledOut(field)
  if (spelled !== undefined) return readClockTimes(spelled.split(' '))
  if (minutes === undefined) return { details: [describeOneField(field)] }
  const every = Number(minutes)
  if (every < 1 || every > weekMinutes) {
    const detail = `must be */1 to */${weekMinutes}, which is a week, not ${field}: for a longer time write the day, as 0 8 1 * *`
    return { details: [detail] }
  }
  return { times: { kind: 'elapsed', everyMs: every * minuteMs } }
}

function describeOneField(field: string): string {
  if (!/^\d{1,2}$/.test(field))
    return `must have 1, 5 or 6 fields, and one alone be as */30 or @daily, not ${JSON.stringify(field)}`
  const meant = [`*/${Math.max(1, Number(field))} for every ${Math.max(1, Number(field))} minutes`]
  if (Number(field) < 60) meant.push(`${field} * * * * for that minute of every hour`)
  return `must be ${meant.join(' or ')}, not ${field} alone`
}

function readClockTimes(fields: readonly string[]): Read {
  const read = readPattern(fields)
  if ('details' in read) return read
  const { pattern } = read
  if (!everComes(pattern)) {
    const detail =
      'must name a day that comes, not as 30 February: change the day of the month (L is the last) or the month'
    return { details: [detail] }
  }
  const isEveryHour = pattern.hours.length === 24
  const minutes = fields.at(-5) ?? ''
  return {
    times: {
      kind: 'clock',
      pattern,
      madeUp: !isEveryHour,
      repeated: isEveryHour || /[*/]/.test(minutes),
    },
  }
}

// In 28 years without a leap year left out every date falls on every day of the week.
const everComes = (pattern: Pattern) =>
  firstTime(pattern, Date.UTC(1972, 0, 1), Date.UTC(2000, 0, 1)) !== undefined

function describeZone(timezone: string): string {
  const names = Intl.supportedValuesOf('timeZone')
  const meant = names.find((name) => name.endsWith(`/${timezone}`)) ?? nearestWord(timezone, names)
  return `must be a time zone, as UTC or Europe/Malta${meant === undefined ? '' : `: did you mean ${meant}?`}`
}
