import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { localTime } from './local-time.ts'
import type { Schedule } from './schedule.ts'
import { readSchedule } from './schedule.ts'
import { lastTick, nextTicks, ticksBetween } from './ticks.ts'

function scheduleOf(text: string, timezone: string): Schedule {
  const read = readSchedule(text, timezone)
  if ('faults' in read) throw new Error(`${text}: ${JSON.stringify(read.faults)}`)
  return read.schedule
}

function shown(text: string, timezone: string, [from, until]: [string, string]): string[] {
  const schedule = scheduleOf(text, timezone)
  return ticksBetween(schedule, new Date(from), new Date(until), 1_000).map((tick) =>
    localTime(schedule, tick),
  )
}

// Clocks go from 2:00 to 3:00 on 29 March, and from 3:00 back to 2:00 on 25 October.
const spring: [string, string] = ['2026-03-28T23:30:00Z', '2026-03-29T10:00:00Z']
const autumn: [string, string] = ['2026-10-24T22:30:00Z', '2026-10-25T10:00:00Z']

test('a time that does not exist is due once, at the first instant after it', () => {
  assert.deepEqual(shown('30 2 * * *', 'Europe/Berlin', spring), ['2026-03-29T03:00:00+02:00'])
  assert.deepEqual(shown('0,15,30 2 * * *', 'Europe/Berlin', spring), ['2026-03-29T03:00:00+02:00'])
  assert.deepEqual(shown('30 2 29 3 *', 'Europe/Berlin', spring), ['2026-03-29T03:00:00+02:00'])
  assert.deepEqual(shown('30 2 * * MON', 'Europe/Berlin', spring), [])
})

test('a time that the end of what is missing has as well is due once', () => {
  assert.deepEqual(shown('0 2,3 * * *', 'Europe/Berlin', spring), ['2026-03-29T03:00:00+02:00'])
  assert.deepEqual(shown('30 2,3 * * *', 'Europe/Berlin', spring), [
    '2026-03-29T03:00:00+02:00',
    '2026-03-29T03:30:00+02:00',
  ])
})

test('the ends of what is missing are exact', () => {
  assert.deepEqual(shown('59 59 1 * * *', 'Europe/Berlin', spring), ['2026-03-29T01:59:59+01:00'])
  assert.deepEqual(shown('0 0 2 * * *', 'Europe/Berlin', spring), ['2026-03-29T03:00:00+02:00'])
  assert.deepEqual(shown('59 59 2 * * *', 'Europe/Berlin', spring), ['2026-03-29T03:00:00+02:00'])
  assert.deepEqual(shown('1 0 3 * * *', 'Europe/Berlin', spring), ['2026-03-29T03:00:01+02:00'])
})

test('a time that exists twice is due once, at the first', () => {
  assert.deepEqual(shown('30 2 * * *', 'Europe/Berlin', autumn), ['2026-10-25T02:30:00+02:00'])
  assert.deepEqual(shown('0,30 2,3 * * *', 'Europe/Berlin', autumn), [
    '2026-10-25T02:00:00+02:00',
    '2026-10-25T02:30:00+02:00',
    '2026-10-25T03:00:00+01:00',
    '2026-10-25T03:30:00+01:00',
  ])
})

test('the ends of what exists twice are exact', () => {
  assert.deepEqual(shown('0 0 2 * * *', 'Europe/Berlin', autumn), ['2026-10-25T02:00:00+02:00'])
  assert.deepEqual(shown('59 59 2 * * *', 'Europe/Berlin', autumn), ['2026-10-25T02:59:59+02:00'])
  assert.deepEqual(shown('0 0 3 * * *', 'Europe/Berlin', autumn), ['2026-10-25T03:00:00+01:00'])
})

test('a pattern of every hour goes on by elapsed time', () => {
  const hours = ([from, until]: [string, string], text: string) => {
    const ticks = ticksBetween(scheduleOf(text, 'Europe/Berlin'), new Date(from), new Date(until), 1_000)
    return ticks.slice(1).map((tick, index) => (tick.getTime() - (ticks[index]?.getTime() ?? 0)) / 60_000)
  }
  for (const season of [spring, autumn]) {
    assert.deepEqual(new Set(hours(season, '*/30')), new Set([30]))
    assert.deepEqual(new Set(hours(season, '0 * * * *')), new Set([60]))
    assert.deepEqual(new Set(hours(season, '17 0-23 * * *')), new Set([60]))
    assert.deepEqual(new Set(hours(season, '15,45 * * * *')), new Set([30]))
  }
})

test('a * or a step in the minutes goes on in some hours too, and loses nothing that is missing', () => {
  assert.deepEqual(shown('*/30 1-3 * * *', 'Europe/Berlin', autumn), [
    '2026-10-25T01:00:00+02:00',
    '2026-10-25T01:30:00+02:00',
    '2026-10-25T02:00:00+02:00',
    '2026-10-25T02:30:00+02:00',
    '2026-10-25T02:00:00+01:00',
    '2026-10-25T02:30:00+01:00',
    '2026-10-25T03:00:00+01:00',
    '2026-10-25T03:30:00+01:00',
  ])
  assert.deepEqual(shown('*/20 2 * * *', 'Europe/Berlin', spring), ['2026-03-29T03:00:00+02:00'])
})

test('a step of hours names times of day', () => {
  assert.deepEqual(shown('0 */2 * * *', 'Europe/Berlin', ['2026-10-24T22:30:00Z', '2026-10-25T04:00:00Z']), [
    '2026-10-25T02:00:00+02:00',
    '2026-10-25T04:00:00+01:00',
  ])
  assert.deepEqual(shown('0 */2 * * *', 'Europe/Berlin', ['2026-03-28T22:30:00Z', '2026-03-29T03:00:00Z']), [
    '2026-03-29T00:00:00+01:00',
    '2026-03-29T03:00:00+02:00',
    '2026-03-29T04:00:00+02:00',
  ])
})

test('a midnight that does not exist is due at one, and one that comes twice at the first', () => {
  const midnight = (from: string, until: string) => shown('0 0 * * *', 'America/Sao_Paulo', [from, until])
  assert.deepEqual(midnight('2018-11-03T12:00:00Z', '2018-11-05T12:00:00Z'), [
    '2018-11-04T01:00:00-02:00',
    '2018-11-05T00:00:00-02:00',
  ])
  assert.deepEqual(midnight('2018-02-17T12:00:00Z', '2018-02-19T12:00:00Z'), [
    '2018-02-18T00:00:00-03:00',
    '2018-02-19T00:00:00-03:00',
  ])
  assert.deepEqual(
    shown('30 23 * * *', 'America/Sao_Paulo', ['2018-02-17T12:00:00Z', '2018-02-19T12:00:00Z']),
    ['2018-02-17T23:30:00-02:00', '2018-02-18T23:30:00-03:00'],
  )
})

test('a change of half an hour', () => {
  const march: [string, string] = ['2026-04-04T13:30:00Z', '2026-04-04T16:30:00Z']
  assert.deepEqual(shown('45 1 * * *', 'Australia/Lord_Howe', march), ['2026-04-05T01:45:00+11:00'])
  assert.deepEqual(shown('*/15 * * * *', 'Australia/Lord_Howe', march).slice(3, 8), [
    '2026-04-05T01:30:00+11:00',
    '2026-04-05T01:45:00+11:00',
    '2026-04-05T01:30:00+10:30',
    '2026-04-05T01:45:00+10:30',
    '2026-04-05T02:00:00+10:30',
  ])
  const october: [string, string] = ['2026-10-03T15:00:00Z', '2026-10-03T16:30:00Z']
  assert.deepEqual(shown('15 2 * * *', 'Australia/Lord_Howe', october), ['2026-10-04T02:30:00+11:00'])
})

test('the times of a day that never was are due at its end', () => {
  const days: [string, string] = ['2011-12-29T12:00:00Z', '2011-12-31T12:00:00Z']
  assert.deepEqual(shown('0 8,20 * * *', 'Pacific/Apia', days), [
    '2011-12-29T08:00:00-10:00',
    '2011-12-29T20:00:00-10:00',
    '2011-12-31T00:00:00+14:00',
    '2011-12-31T08:00:00+14:00',
    '2011-12-31T20:00:00+14:00',
  ])
  assert.deepEqual(shown('0 0 30 * *', 'Pacific/Apia', days), ['2011-12-31T00:00:00+14:00'])
  assert.equal(shown('0 * * * *', 'Pacific/Apia', days).length, 48)
})

test('what is due does not depend on where the window was cut', () => {
  const texts = ['30 2 * * *', '0 * * * *', '*/20 1-3 * * *', '0,30 0-5 * * *', '*/45', '0 0 L * *']
  const schedules = texts.flatMap((text) =>
    ['Europe/Berlin', 'America/Havana', 'Australia/Lord_Howe'].map((zone) => scheduleOf(text, zone)),
  )
  const startMs = Date.parse('2026-01-01T00:00:00Z')
  fc.assert(
    fc.property(
      fc.constantFrom(...schedules),
      fc.integer({ min: 0, max: 365 * 86_400_000 }),
      fc.array(fc.integer({ min: 1, max: 5 * 86_400_000 }), { minLength: 1, maxLength: 8 }),
      (schedule, offsetMs, partsMs) => {
        let atMs = startMs + offsetMs
        const endMs = partsMs.reduce((sum, ms) => sum + ms, atMs)
        const whole = ticksBetween(schedule, new Date(atMs), new Date(endMs), 10_000)
        const parts = partsMs.flatMap((ms) => {
          const found = ticksBetween(schedule, new Date(atMs), new Date(atMs + ms), 10_000)
          atMs += ms
          return found
        })
        assert.deepEqual(parts, whole)
        assert.deepEqual(nextTicks(schedule, new Date(startMs + offsetMs), whole.length), whole)
      },
    ),
    { numRuns: 300 },
  )
})

test('the last tick is the last of those before', () => {
  const texts = [
    '30 2 * * *',
    '0 * * * *',
    '*/10 1-3 * * *',
    '*/45',
    '0 0 L 2 *',
    '0 8 * * MON#1',
    '*/7 * * * * *',
  ]
  const startMs = Date.parse('2025-01-01T00:00:00Z')
  fc.assert(
    fc.property(
      fc.constantFrom(...texts.map((text) => scheduleOf(text, 'Europe/Berlin'))),
      fc.integer({ min: 0, max: 2 * 365 * 86_400 }),
      fc.integer({ min: 0, max: 999 }),
      (schedule, seconds, ms) => {
        const at = new Date(startMs + seconds * 1_000 + ms)
        const last = lastTick(schedule, at)
        assert.ok(last !== undefined && last <= at)
        assert.deepEqual(ticksBetween(schedule, last, at, 10), [])
        assert.deepEqual(ticksBetween(schedule, new Date(last.getTime() - 1), at, 10), [last])
        assert.deepEqual(lastTick(schedule, last), last)
      },
    ),
    { numRuns: 300 },
  )
})

test('a window has its end and not its beginning, and no more than was asked for', () => {
  const hourly = scheduleOf('0 * * * *', 'UTC')
  const at = (text: string) => new Date(`2026-01-01T${text}Z`)
  assert.deepEqual(ticksBetween(hourly, at('01:00:00'), at('03:00:00'), 10), [at('02:00:00'), at('03:00:00')])
  assert.deepEqual(ticksBetween(hourly, at('00:59:59.999'), at('01:00:00'), 10), [at('01:00:00')])
  assert.deepEqual(ticksBetween(hourly, at('01:00:00.001'), at('01:59:59.999'), 10), [])
  assert.deepEqual(ticksBetween(hourly, at('01:00:00'), at('23:00:00'), 2), [at('02:00:00'), at('03:00:00')])
  assert.deepEqual(ticksBetween(hourly, at('01:00:00'), at('23:00:00'), 0), [])
  assert.deepEqual(ticksBetween(hourly, at('03:00:00'), at('01:00:00'), 10), [])
  assert.deepEqual(nextTicks(hourly, at('01:00:00'), 0), [])
})

test('far away times end, and a time that is none is an error', () => {
  const daily = scheduleOf('30 2 * * *', 'Europe/Berlin')
  const last = new Date(8.64e15)
  const first = new Date(-8.64e15)
  assert.deepEqual(nextTicks(daily, last, 5), [])
  assert.equal(nextTicks(daily, first, 1)[0]?.toISOString(), '1970-01-01T01:30:00.000Z')
  assert.equal(ticksBetween(daily, first, last, 5).length, 5)
  assert.equal(lastTick(daily, last)?.toISOString(), '9999-12-31T01:30:00.000Z')
  assert.equal(lastTick(daily, first), undefined)
  assert.throws(() => ticksBetween(daily, new Date(Number.NaN), last, 5), /a time that is none/)
  assert.throws(() => nextTicks(daily, new Date(Number.NaN), 5), /a time that is none/)
  assert.throws(() => lastTick(daily, new Date(Number.NaN)), /a time that is none/)
})

test('local times have their offset', () => {
  const at = new Date('2026-07-01T12:00:05Z')
  assert.equal(localTime(scheduleOf('*/45', 'Asia/Kathmandu'), at), '2026-07-01T17:45:05+05:45')
  assert.equal(localTime(scheduleOf('*/45', 'America/St_Johns'), at), '2026-07-01T09:30:05-02:30')
  assert.equal(localTime(scheduleOf('*/45', 'UTC'), at), '2026-07-01T12:00:05+00:00')
})
