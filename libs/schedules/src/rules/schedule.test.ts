import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readSchedule } from './schedule.ts'
import { lastTick, nextTicks, ticksBetween } from './ticks.ts'

const noon = new Date('2026-01-15T12:00:00Z')

function next(text: string, { count = 3, from = noon, timezone = 'UTC' } = {}): string[] {
  const read = readSchedule(text, timezone)
  if ('faults' in read) throw new Error(JSON.stringify(read.faults))
  return nextTicks(read.schedule, from, count).map((tick) => tick.toISOString().replace(':00.000Z', ''))
}

function detailsOf(text: string): string[] {
  const read = readSchedule(text, 'UTC')
  return 'faults' in read ? read.faults.map(({ detail }) => detail) : []
}

test('one field is every so many minutes', () => {
  assert.deepEqual(next('*/30'), ['2026-01-15T12:30', '2026-01-15T13:00', '2026-01-15T13:30'])
  assert.deepEqual(next('*/60'), ['2026-01-15T13:00', '2026-01-15T14:00', '2026-01-15T15:00'])
  assert.deepEqual(next(' */1 '), ['2026-01-15T12:01', '2026-01-15T12:02', '2026-01-15T12:03'])
  for (const minutes of [1, 5, 7, 45, 60, 90, 120, 1_440, 10_080]) {
    const ticks = next(`*/${minutes}`, { count: 50 }).map((text) => Date.parse(`${text}Z`))
    for (const [index, tick] of ticks.entries())
      if (index > 0) assert.equal(tick - (ticks[index - 1] ?? 0), minutes * 60_000, `*/${minutes}`)
  }
})

test('one field that does not divide the hour goes on by elapsed time in every zone', () => {
  const from = new Date('2026-03-28T22:00:00Z')
  const expected = ['2026-03-28T22:30', '2026-03-29T00:00', '2026-03-29T01:30', '2026-03-29T03:00']
  for (const timezone of ['UTC', 'Europe/Berlin', 'Asia/Kathmandu'])
    assert.deepEqual(next('*/90', { count: 4, from, timezone }), expected)
})

test('five fields, and six with the seconds first', () => {
  assert.deepEqual(next('0 8 * * 1-5'), ['2026-01-16T08:00', '2026-01-19T08:00', '2026-01-20T08:00'])
  assert.deepEqual(next('30 15 8 * * *', { count: 1 }), ['2026-01-16T08:15:30.000Z'])
  assert.deepEqual(next('*/20 * * * * *'), [
    '2026-01-15T12:00:20.000Z',
    '2026-01-15T12:00:40.000Z',
    '2026-01-15T12:01',
  ])
})

const same: [string, string, string?][] = [
  ['days by name', '0 8 * * MON-FRI', '0 8 * * 1-5'],
  ['names of any case', '0 8 1 jan,Jul MoN', '0 8 1 1,7 1'],
  ['Sunday is 0 and 7', '0 8 * * 7', '0 8 * * 0'],
  ['a week that ends on Sunday', '0 8 * * FRI-SUN', '0 8 * * 0,5,6'],
  ['a range to 0', '0 8 * * 5-0', '0 8 * * 0,5,6'],
  ['a list that says a thing twice', '0-30,15,0-30/2 8 * * MON,1,1-3', '0-30 8 * * 1,2,3'],
  ['a step from a value on', '5/15 * * * *', '5,20,35,50 * * * *'],
  ['a step in a range', '0 8-18/5 * * *', '0 8,13,18 * * *'],
  ['? is any day', '0 8 ? * MON', '0 8 * * MON'],
  ['every day of the month is any', '0 8 1-31 * MON', '0 8 * * MON'],
  ['every day of the week is any', '0 8 13 * 1-7', '0 8 13 * *'],
  ['white space', '\t0  8 * *\u00a0* ', '0 8 * * *'],
  ['zeros before a number', '*/030', '*/30 * * * *'],
  ['zeros in fields', '05 08 01 * *', '5 8 1 * *'],
  ['@daily', '@daily', '0 0 * * *'],
  ['@midnight', '@Midnight', '0 0 * * *'],
  ['@hourly', '@hourly', '0 * * * *'],
  ['@weekly', '@weekly', '0 0 * * SUN'],
  ['@monthly', '@monthly', '0 0 1 * *'],
  ['@yearly', '@yearly', '0 0 1 JAN *'],
  ['@annually', '@annually', '0 0 1 1 *'],
]
for (const [what, one, other] of same)
  test(`${what}: ${JSON.stringify(one)} is ${other}`, () => {
    assert.deepEqual(next(one, { count: 40 }), next(other ?? '', { count: 40 }))
  })

const days: [string, string[]][] = [
  ['0 0 L * *', ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']],
  ['0 0 L 2 *', ['2026-02-28', '2027-02-28', '2028-02-29', '2029-02-28']],
  ['0 0 15,L * *', ['2026-01-31', '2026-02-15', '2026-02-28', '2026-03-15']],
  ['0 0 * * FRI#2', ['2026-02-13', '2026-03-13', '2026-04-10', '2026-05-08']],
  ['0 0 * * MON#1,MON#3', ['2026-01-19', '2026-02-02', '2026-02-16', '2026-03-02']],
  ['0 0 * * 5#5', ['2026-01-30', '2026-05-29', '2026-07-31', '2026-10-30']],
  ['0 0 * * 0#1', ['2026-02-01', '2026-03-01', '2026-04-05', '2026-05-03']],
  ['0 0 * * 7#1', ['2026-02-01', '2026-03-01', '2026-04-05', '2026-05-03']],
  ['0 0 * * FRIL', ['2026-01-30', '2026-02-27', '2026-03-27', '2026-04-24']],
  ['0 0 * * 7l', ['2026-01-25', '2026-02-22', '2026-03-29', '2026-04-26', '2026-05-31']],
  ['0 0 13 * FRI', ['2026-01-16', '2026-01-23', '2026-01-30', '2026-02-06', '2026-02-13', '2026-02-20']],
  ['0 0 31 * *', ['2026-01-31', '2026-03-31', '2026-05-31', '2026-07-31']],
  ['0 0 29 2 *', ['2028-02-29', '2032-02-29', '2036-02-29']],
  ['0 0 31 2,4,5 *', ['2026-05-31', '2027-05-31']],
]
for (const [text, expected] of days)
  test(`the days of ${text}`, () => {
    assert.deepEqual(
      next(text, { count: expected.length }),
      expected.map((day) => `${day}T00:00`),
    )
  })

test('a leap day left out in 2100 is waited for', () => {
  assert.deepEqual(next('0 0 29 2 *', { count: 2, from: new Date('2096-01-01T00:00:00Z') }), [
    '2096-02-29T00:00',
    '2104-02-29T00:00',
  ])
})

test('the longest silence of a pattern is waited for', () => {
  const from = new Date('2072-03-01T00:00:00Z')
  assert.deepEqual(next('0 0 * 2 MON#5', { count: 1, from }), ['2112-02-29T00:00'])
  const read = readSchedule('0 0 * 2 MON#5', 'UTC')
  assert.ok('schedule' in read)
  assert.equal(
    lastTick(read.schedule, new Date('2112-02-28T00:00:00Z'))?.toISOString(),
    '2072-02-29T00:00:00.000Z',
  )
})

test('a fault names the field, what was written and what to write', () => {
  assert.deepEqual(detailsOf('61 8 * * *'), [
    'minute must be 0 to 59, as 5 or 0,30 or 10-20 or */15, not "61"',
  ])
  assert.deepEqual(detailsOf('0 8 * * FUN'), [
    'day of the week must be 0 to 7 or SUN to SAT, as 1 or MON-FRI or FRI#2 for the second or FRIL for the last, not "FUN"',
  ])
  assert.deepEqual(detailsOf('*/90 * * * *'), [
    'minute */90 must have a step of at most 60: for every 90 minutes write */90 as the only field',
  ])
  assert.deepEqual(detailsOf('0 */36 * * *'), [
    'hour */36 must have a step of at most 24: for every 36 hours write */2160 as the only field',
  ])
  assert.deepEqual(detailsOf('0 22-2 * * *'), [
    'hour must be 0 to 23, as 8 or 8,20 or 9-17 or */6, not "22-2": a range runs upwards, so 22-2 is written as two, 22-23,0-2',
  ])
  assert.match(detailsOf('0 8 * * SAT-MON').join(), /not "SAT-MON": a range runs upwards/)
  assert.match(detailsOf('0 8-24 * * *').join(), /not "8-24"$/)
  assert.match(detailsOf('0 8 L-3 * *').join(), /not "L-3"$/)
  assert.deepEqual(detailsOf('30'), [
    'must be */30 for every 30 minutes or 30 * * * * for that minute of every hour, not 30 alone',
  ])
  assert.deepEqual(detailsOf('*/0'), [
    'must be */1 to */10080, which is a week, not */0: for a longer time write the day, as 0 8 1 * *',
  ])
  assert.deepEqual(detailsOf('1 2 3'), ['must have 1, 5 or 6 fields, as */30 or 0 8 * * 1-5, not 3'])
  assert.deepEqual(detailsOf('0 0 30 2 *'), [
    'must name a day that comes, not as 30 February: change the day of the month (L is the last) or the month',
  ])
})

test('all faults are told at once', () => {
  const read = readSchedule('61 25 32 13 9', 'Berlin')
  assert.ok('faults' in read)
  assert.deepEqual(
    read.faults.map(({ field, detail }) => `${field}: ${detail.split(',')[0]}`),
    [
      'schedule: minute must be 0 to 59',
      'schedule: hour must be 0 to 23',
      'schedule: day of the month must be 1 to 31',
      'schedule: month must be 1 to 12 or JAN to DEC',
      'schedule: day of the week must be 0 to 7 or SUN to SAT',
      'timezone: must be a time zone',
    ],
  )
  assert.match(read.faults.at(-1)?.detail ?? '', /did you mean Europe\/Berlin\?$/)
})

test('what cannot be meant is refused', () => {
  const refused = [
    // One field.
    '',
    ' ',
    '*',
    '?',
    '5',
    '0',
    '99',
    '/5',
    '*/',
    '*/x',
    '*/-5',
    '*/1.5',
    '*/10081',
    '**/5',
    '5/5',
    '@reboot',
    '@every',
    '@minutely',
    '@secondly',
    '@weekdays',
    'hourly',
    '__proto__',
    'constructor',
    // Not that many fields.
    '* * *',
    '* * * *',
    '* * * * * * *',
    '0 0 0 1 1 ? 2026',
    // Out of bounds, or no number.
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 0 *',
    '* * * 13 *',
    '* * * * 8',
    '* * * * -1',
    '60 * * * * *',
    '-1 * * * *',
    '1.5 * * * *',
    '1e1 * * * *',
    '0x5 * * * *',
    '001 * * * *',
    '+5 * * * *',
    // Ranges, steps and lists.
    '1-2-3 * * * *',
    '5* * * * *',
    '*5 * * * *',
    '** * * * *',
    '*-5 * * * *',
    '5- * * * *',
    '-5 * * * *',
    '*/0 * * * *',
    '*/61 * * * *',
    '1-5/6 * * * *',
    '50/11 * * * *',
    '*/5/5 * * * *',
    '*/5-10 * * * *',
    '/5 * * * *',
    '10-5 * * * *',
    ', * * * *',
    '1, * * * *',
    ',1 * * * *',
    '1,,2 * * * *',
    '? * * * *',
    '* ? * * *',
    // Days and names.
    '* * 1L * *',
    '* * L-3 * *',
    '* * LW * *',
    '* * 15W * *',
    '* * L/2 * *',
    '* * L-5 * *',
    '* * JAN * *',
    '* * * MON *',
    '* * * JANUARY *',
    '* * * * JAN',
    '* * * * MONDAY',
    '* * * * L',
    '* * * * *L',
    '* * * * 1-5L',
    '* * * * #1',
    '* * * * 5#',
    '* * * * 5#0',
    '* * * * 5#6',
    '* * * * 5#1.5',
    '* * * * *#1',
    '* * * * 1-5#1',
    '* * * * 5#1#2',
    '* * * * 5L#1',
    '* * * * 5#L',
    '* * * * SAT-MON',
    '* * * * 55',
    '* * * * +MON',
    // Of other systems.
    'H * * * *',
    'H/5 * * * *',
    'H(0-5) * * * *',
    '* H * * *',
    '~ * * * *',
    '0~30 * * * *',
    '% * * * *',
    // Days that never come.
    '0 0 30 2 *',
    '0 0 31 4 *',
    '0 0 31 2,4,6,9,11 *',
    '0 0 30,31 FEB *',
    '0 0 0 31 11 ?',
    '0 0 31 6 1-7',
    // Letters that only look like it.
    '٣ * * * *',
    '０ * * * *',
    '0 0 * * ＭＯＮ',
    'ſun',
    '0 0 * * ſUN',
    '0\u200b0 * * *',
  ]
  for (const text of refused) {
    const details = detailsOf(text)
    assert.ok(details.length > 0, `${JSON.stringify(text)} was taken`)
    for (const detail of details) assert.match(detail, / must |^must /)
  }
})

test('a time zone is one that the platform knows', () => {
  const faultsOf = (timezone: string) => {
    const read = readSchedule('0 8 * * *', timezone)
    return 'faults' in read ? read.faults.map(({ field, detail }) => `${field} ${detail}`) : []
  }
  for (const timezone of [
    'UTC',
    'Europe/Malta',
    'europe/malta',
    'Etc/GMT+5',
    '+05:30',
    'Asia/Calcutta',
    'EST5EDT',
  ])
    assert.deepEqual(faultsOf(timezone), [], timezone)
  assert.deepEqual(faultsOf('Europe/Malte'), [
    'timezone must be a time zone, as UTC or Europe/Malta: did you mean Europe/Malta?',
  ])
  for (const timezone of ['', ' ', 'Mars/Base', 'local', 'UTC ', 'GMT+25', '__proto__', 'x'.repeat(100_000)])
    assert.match(faultsOf(timezone).join('\n'), /^timezone must be a time zone, as UTC or Europe\/Malta/)
})

test('whatever is written is read or refused, and what is read has ticks', { timeout: 60_000 }, () => {
  const part = fc.oneof(
    fc.constantFrom(
      '*',
      '?',
      'L',
      'H',
      '#',
      '/',
      '-',
      ',',
      '0',
      '1',
      '5',
      '7',
      '31',
      '59',
      'MON',
      'FEB',
      ' ',
      '@',
    ),
    fc.string({ maxLength: 3 }),
  )
  const text = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''))
  const list = (...items: string[]) =>
    fc.array(fc.constantFrom('*', '*/2', '1', '3', '1-5', '5/2', '2-4/2', ...items), {
      minLength: 1,
      maxLength: 3,
    })
  const fields = fc
    .tuple(
      list('0', '59'),
      list('0', '23'),
      list('31', 'L', '?'),
      list('FEB', '2'),
      list('MON', '5#5', '5L', '7'),
    )
    .map((all) => all.map((items) => items.join(',')).join(' '))
  let readCount = 0
  fc.assert(
    fc.property(fc.oneof(text, fields), (written) => {
      const read = readSchedule(written, 'Europe/Berlin')
      if ('faults' in read) return read.faults.every(({ detail }) => detail.length < 400)
      readCount++
      return nextTicks(read.schedule, noon, 2).length === 2
    }),
    { numRuns: 1_000 },
  )
  assert.ok(readCount > 300, `${readCount} were read`)
})

test('a text of any length is judged within its limit', () => {
  for (const text of ['*/'.repeat(100_000), '1,'.repeat(100_000), '* '.repeat(100_000), '9'.repeat(100_000)])
    assert.deepEqual(detailsOf(text), ['must have at most 200 characters'])
  const full = (item: string) =>
    `${`${item},`
      .repeat(200)
      .slice(0, 189)
      .replace(/,[^,]*$/, '')} * * * *`
  for (const item of ['0-59', '*/1', '0', '59-59/1', '*']) assert.deepEqual(detailsOf(full(item)), [], item)
  for (const item of ['0-60', '1-1-1', '*/*', 'H/9', '']) assert.equal(detailsOf(full(item)).length, 1, item)
})

test('the busiest pattern of an hour has a tick a second and the rarest is found', () => {
  const read = readSchedule(`${'0-59,'.repeat(30)}0-59 * * * * *`, 'UTC')
  assert.ok('schedule' in read)
  const until = new Date(noon.getTime() + 3_600_000)
  assert.equal(ticksBetween(read.schedule, noon, until, 10_000).length, 3_600)
})
