import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CronExpressionParser } from 'cron-parser'
import { Cron, CronPattern } from 'croner'
import fc from 'fast-check'
import { readSchedule } from './schedule.ts'
import { nextTicks, ticksBetween } from './ticks.ts'

// croner is another program with clocks of its own. It knows two kinds of patterns: one whose missing times it makes
// up for and whose double times it runs once, and one that runs whenever the clock shows its times. Which of them a
// pattern is, it judges otherwise than we do, so it is asked for both, and our policy (docs/schedules.md) is said
// here a second time, in terms of these two:
//
//   every hour of the day          whenever shown
//   * or a step in the minutes     whenever shown, and what is made up for
//   all others                     made up for, once
//
// Where a clock leaves out the end of a day, croner makes up for nothing, as it does not go on to the next day. We do.

const zones = [
  'UTC',
  'Europe/London',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Asia/Tehran',
].concat([
  'Africa/Casablanca',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Antarctica/Troll',
  'America/Havana',
  'America/Nuuk',
])

const dayMs = 86_400_000
const fromYear = 2006
const toYear = 2027

type Kind = 'whenever shown' | 'both' | 'once'

const patterns: [string, Kind][] = [
  // In the hours in which clocks are changed.
  ['30 2 * * *', 'once'],
  ['0 0 * * *', 'once'],
  ['30 1 * * *', 'once'],
  ['15,45 0,2,3,23 * * *', 'once'],
  ['0 */2 * * *', 'once'],
  ['30 59 1-3 * * *', 'once'],
  ['0 0 L * *', 'once'],
  ['30 2 * * SUN', 'once'],
  ['30 1 * * 0#2', 'once'],
  ['45 1 * * SUNL', 'once'],
  ['10 2 25 3,10 FRI', 'once'],
  ['*/20 0-4 * * *', 'both'],
  ['7/15 1,2,3 * * SUN', 'both'],
  ['*/10 2 * * *', 'both'],
  ['0 * * * *', 'whenever shown'],
  ['*/30 * * * *', 'whenever shown'],
  ['10,50 0-23 * * *', 'whenever shown'],
  ['30 */7 * * * SAT,SUN', 'whenever shown'],
]

/** What croner finds after `fromMs` and up to and with `untilMs`. */
function cronerTicks(cron: Cron, fromMs: number, untilMs: number): number[] {
  const ticks: number[] = []
  for (let at = cron.nextRun(new Date(fromMs)); at !== null && at.getTime() <= untilMs; at = cron.nextRun(at))
    ticks.push(at.getTime())
  return ticks
}

/** The same pattern as croner judges it to be of one kind, or of the other. */
function cronerPatterns(text: string, timezone: string): { once: Cron; whenever: Cron } {
  const { second, minute, hour } = new CronPattern(text, undefined, { sloppyRanges: true })
  const values = (set: readonly number[]) => set.flatMap((isIn, value) => (isIn === 1 ? [value] : []))
  const days = text.split(' ').slice(-3).join(' ')
  const fields = [second, minute, hour].map(values)
  const once = fields.map((field) => field.join(',')).join(' ')
  const whenever = fields.map((field) => field.map((value) => `${value}-${value}/1`).join(',')).join(' ')
  return {
    once: new Cron(`${once} ${days}`, { timezone, fixedTimeRule: 'no-wildcard' }),
    whenever: new Cron(`${whenever} ${days}`, { timezone, fixedTimeRule: 'no-wildcard' }),
  }
}

function expected(
  crons: { once: Cron; whenever: Cron },
  kind: Kind,
  fromMs: number,
  untilMs: number,
): Set<number> {
  return new Set([
    ...(kind === 'once' ? [] : cronerTicks(crons.whenever, fromMs, untilMs)),
    ...(kind === 'whenever shown' ? [] : cronerTicks(crons.once, fromMs, untilMs)),
  ])
}

/** Whether the clock comes to `atMs` by leaving out the end of a day, at least. */
function isAfterMissingEndOfDay(timezone: string, atMs: number): boolean {
  const [now, before] = [atMs, atMs - 1_000].map(
    (ms) => `${new Date(ms).toLocaleString('sv-SE', { timeZone: timezone })}Z`,
  )
  const isNextSecond = Date.parse(now ?? '') - Date.parse(before ?? '') === 1_000
  return !isNextSecond && now?.slice(0, 10) !== before?.slice(0, 10)
}

/** The midnights in UTC of days in which the clock is changed; found without the code that is tested. */
function changeDays(timezone: string): number[] {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' })
  const offsetAt = (ms: number) => format.format(ms).split(', ')[1]
  const found: number[] = []
  for (let ms = Date.UTC(fromYear, 0, 1); ms < Date.UTC(toYear, 0, 1); ms += dayMs)
    if (offsetAt(ms) !== offsetAt(ms + dayMs)) found.push(ms)
  return found
}

/**
 * Where to look. croner takes some 40 µs for a tick, so one pattern alone is held against it everywhere; the others
 * around the changes and in some weeks, and those of many ticks around every fifth change, which is of each season.
 */
function windowsOf(days: readonly number[], index: number): [number, number][] {
  if (index === 0) return [[Date.UTC(fromYear, 0, 1), Date.UTC(toYear, 0, 1)]]
  const isBusy = patterns[index]?.[1] !== 'once'
  const near = days.filter((_, nth) => !isBusy || (nth + index) % 5 === 0)
  const weeks = Array.from({ length: 4 }, (_, nth) =>
    Date.UTC(fromYear + nth * 5, (nth * 5 + index) % 12, 27),
  )
  return [
    ...near.map((ms): [number, number] => [ms - dayMs / 2, ms + 1.5 * dayMs]),
    ...weeks.map((ms): [number, number] => [ms, ms + 7 * dayMs]),
  ]
}

for (const timezone of zones) {
  test(`twenty years of ${timezone} are as croner has them`, () => {
    let ticksMet = 0
    const days = changeDays(timezone)
    for (const [index, [text, kind]] of patterns.entries()) {
      const read = readSchedule(text, timezone)
      assert.ok('schedule' in read, text)
      const crons = cronerPatterns(text, timezone)
      for (const [fromMs, untilMs] of windowsOf(days, index)) {
        const ours = ticksBetween(read.schedule, new Date(fromMs), new Date(untilMs), 1_000_000)
        const theirs = expected(crons, kind, fromMs, untilMs)
        const found = ours.map((tick) => tick.getTime())
        assert.deepEqual(
          found,
          [...new Set(found)].toSorted((a, b) => a - b),
        )
        const missed = [...theirs].filter((tick) => !found.includes(tick))
        const added = found.filter((tick) => !theirs.has(tick))
        if (kind !== 'whenever shown' && added.every((tick) => isAfterMissingEndOfDay(timezone, tick)))
          added.length = 0
        const tell = (ticks: number[]) => ticks.slice(0, 5).map((tick) => new Date(tick).toISOString())
        assert.deepEqual({ text, missed: tell(missed), added: tell(added) }, { text, missed: [], added: [] })
        ticksMet += found.length
      }
    }
    assert.ok(ticksMet > 9_000, `${ticksMet} ticks`)
  })
}

// Days, steps and lists, where no clock is changed: here cron-parser's own search is a third opinion.
test('random patterns in UTC are as croner and cron-parser have them', () => {
  const clock = (max: number) =>
    fc.oneof(
      fc.constantFrom('*', '*/2', '*/7', '5/3'),
      fc.integer({ min: 0, max }).map(String),
      fc
        .uniqueArray(fc.integer({ min: 0, max }), { minLength: 2, maxLength: 4 })
        .map((values) => values.join(',')),
      fc.tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max })).map((ends) => upwards(ends)),
    )
  const fields = fc.tuple(
    fc.constantFrom('0', '30', '0,20', '*/15'),
    clock(59),
    clock(23),
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('*', '?') },
      fc.constantFrom('1', '29', '31', 'L', '15,L', '*/9', '10-20/4'),
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('*') },
      fc.constantFrom('2', 'FEB,MAR', '*/5', '6-8', 'DEC'),
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('*', '?') },
      fc.constantFrom('MON', '1-5', '0,6', '7', 'FRI#2', '1#5', 'SUNL', '5L', '*/2', 'TUE-THU'),
    ),
  )
  let patternsMet = 0
  fc.assert(
    fc.property(fields, fc.integer({ min: 0, max: 20 * 365 * 86_400 }), (parts, seconds) => {
      const text = parts.join(' ')
      const read = readSchedule(text, 'UTC')
      fc.pre('schedule' in read)
      patternsMet++
      const from = new Date(Date.UTC(2006, 0, 1) + seconds * 1_000)
      const ours = nextTicks(read.schedule, from, 8)
      assert.deepEqual(ours, new Cron(text, { timezone: 'UTC', sloppyRanges: true }).nextRuns(8, from), text)
      const other = CronExpressionParser.parse(text, { tz: 'UTC', currentDate: from })
      assert.deepEqual(
        ours,
        other.take(8).map((date) => date.toDate()),
        text,
      )
    }),
    { numRuns: 1_000 },
  )
  assert.ok(patternsMet > 500, `${patternsMet}`)
})

const upwards = ([one, other]: [number, number]) => `${Math.min(one, other)}-${Math.max(one, other)}`
