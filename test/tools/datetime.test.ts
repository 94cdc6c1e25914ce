import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTool } from './fixtures/run-tool.ts'

test('it is now, in the zones that are asked for', async (t) => {
  const tool = await openTool(t, 'datetime')
  const before = Math.floor(Date.now() / 1_000)
  const { data } = await tool.succeed({ action: 'now', to_zones: ['Asia/Tokyo', 'new york', '+05:30'] })
  const after = Math.floor(Date.now() / 1_000)
  // safe because the manifest says what data has, and what is read is compared
  const { times } = data as { times: { unix: number; zone: string; offset: string }[] }
  assert.deepEqual(
    times.map(({ zone }) => zone),
    ['Asia/Tokyo', 'America/New_York', 'UTC+05:30'],
  )
  for (const { unix } of times) assert.ok(unix >= before && unix <= after)
  assert.equal(times[0]?.offset, '+09:00')
})

test('times are converted, also those that the clocks skip or show twice', async (t) => {
  const tool = await openTool(t, 'datetime')
  const convert = async (time: string, zone: string, to: string) =>
    (await tool.succeed({ action: 'convert', time, zone, to_zones: [to] })).text.split('\n')
  assert.deepEqual(await convert('2026-03-29T14:30', 'Europe/Paris', 'Asia/Kolkata'), [
    'Sunday 2026-03-29 14:30:00 in Europe/Paris (CEST, UTC+02:00)',
    'Sunday 2026-03-29 18:00:00 in Asia/Kolkata (IST, UTC+05:30)',
  ])
  assert.deepEqual((await convert('2026-03-29T02:30', 'Europe/Berlin', 'UTC')).slice(1), [
    'Sunday 2026-03-29 01:30:00 (UTC)',
    'The clocks in Europe/Berlin skip 2026-03-29 02:30; 03:30 is taken instead.',
  ])
  assert.deepEqual((await convert('2026-10-25T02:30', 'Europe/Berlin', 'UTC')).slice(1), [
    'Sunday 2026-10-25 00:30:00 (UTC)',
    'The clocks in Europe/Berlin show 2026-10-25 02:30 twice; the earlier is taken.',
  ])
})

test('the zone of the settings is that of times which say none', async (t) => {
  const tool = await openTool(t, 'datetime')
  const params = { action: 'format', time: '2026-07-01T12:00', format: '%H:%M %Z' }
  assert.equal((await tool.succeed(params)).text, '12:00 UTC')
  assert.equal((await tool.succeed(params, { settings: { zone: 'Europe/Paris' } })).text, '12:00 CEST')
})

test('a format may hold braces, which are shown as round brackets in text', async (t) => {
  const tool = await openTool(t, 'datetime')
  const { text, data } = await tool.succeed({ action: 'format', time: '2026-07-01', format: '{%Y} 100%%' })
  assert.equal(text, '(2026) 100%')
  // safe because the manifest says what data has, and what is read is compared
  assert.equal((data as { formatted: string }).formatted, '{2026} 100%')
})

test('amounts are added on the calendar, hours on the clock', async (t) => {
  const tool = await openTool(t, 'datetime')
  const cases = [
    ['2026-01-31', '1 month', 'Saturday 2026-02-28 00:00:00'],
    ['2026-03-28T12:00', '1 day', 'Sunday 2026-03-29 12:00:00'],
    ['2026-03-28T12:00', '24 hours', 'Sunday 2026-03-29 13:00:00'],
    ['2026-11-21', '5 working days', 'Friday 2026-11-27 00:00:00'],
    ['2026-11-20', '-3 business days', 'Tuesday 2026-11-17 00:00:00'],
    ['2026-11-20', 'P1Y2M3DT4H', 'Sunday 2028-01-23 04:00:00'],
    ['2026-11-20', '1 month 2 days, 3 hours and -5 min', 'Tuesday 2026-12-22 02:55:00'],
  ] as const
  for (const [time, amount, end] of cases) {
    const { text } = await tool.succeed({ action: 'add', time, amount, zone: 'Europe/Berlin' })
    assert.equal(text.split('\n')[1]?.replace(/ in Europe.*/, ''), end, amount)
  }
})

test('a difference is told in parts and in all', async (t) => {
  const tool = await openTool(t, 'datetime')
  const params = { action: 'difference', time: '2026-02-28', until: '2026-12-24T18:00' }
  assert.deepEqual((await tool.succeed(params)).text.split('\n'), [
    'Thursday 2026-12-24 18:00:00 (UTC) is 9 months, 26 days, 18 hours later than Saturday 2026-02-28 00:00:00 (UTC).',
    'In all 25898400 seconds, or 299.75 days of 24 hours; 213 days from Monday to Friday, the later day not counted.',
  ])
  const back = await tool.succeed({ action: 'difference', time: '2026-12-24', until: '2026-02-28' })
  assert.match(back.text, /^Saturday 2026-02-28 .* is 9 months, 26 days earlier than/)
})

test('what is no time, zone, amount or format is refused with what to mend', async (t) => {
  const tool = await openTool(t, 'datetime')
  const refusals: [Record<string, string | string[]>, RegExp][] = [
    [
      { action: 'convert', time: '29/03/2026', to_zones: ['UTC'] },
      /is not a time .*Write it as 2026-03-29T14:30/,
    ],
    [{ action: 'convert', time: 'now', to_zones: ['Mars/Base'] }, /'Mars\/Base' is not known/],
    [{ action: 'convert', time: 'now', to_zones: ['../../etc/passwd'] }, /is not known/],
    [
      { action: 'convert', time: 'now', zone: 'Europe/Pariss', to_zones: ['UTC'] },
      /Did you mean .*Europe\/Paris/,
    ],
    [{ action: 'convert', time: 'now' }, /Say in to_zones/],
    [{ action: 'add', time: 'now', amount: '1000000 years' }, /years 1 to 9999/],
    [{ action: 'add', time: 'now', amount: '1 fnord' }, /no unit of time/],
    [{ action: 'add', time: 'now', amount: '1.5 days' }, /added whole/],
    [{ action: 'convert', time: '{x}', to_zones: ['UTC'] }, /^'\(x\)' is not a time/],
    [{ action: 'difference', time: 'now' }, /needs the parameter until/],
    [{ action: 'format', time: 'now', format: '%99999999d' }, /'%9' is not known in a format/],
    [{ action: 'convert', time: '0001-01-01', to_zones: ['America/New_York'] }, /years 1 to 9999/],
  ]
  for (const [params, message] of refusals) assert.match((await tool.fail(params)).message, message)
})
