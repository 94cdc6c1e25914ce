import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageFault } from '../arguments/usage-fault.ts'
import { readTiming } from './change-schedule.ts'
import { readTime } from './run-schedule.ts'

test('what is set is read as what it is: texts, numbers, and null for what goes back to the manifest', () => {
  assert.deepEqual(
    readTiming(['schedule=0 8 * * *', 'timezone=Etc/GMT+5', 'pause_after=0'], ['overlap', 'jitter_seconds']),
    { schedule: '0 8 * * *', timezone: 'Etc/GMT+5', pause_after: 0, overlap: null, jitter_seconds: null },
  )
})

test('what cannot be set is told with what can', () => {
  for (const [pairs, unset, message] of [
    [[], [], /KEY is one of schedule, timezone/],
    [['0 8 * * *'], [], /KEY=VALUE/],
    [['=x'], [], /KEY=VALUE/],
    [['shedule=*/5'], [], /did you mean schedule\?/],
    [['prompt=x'], [], /there is no "prompt"/],
    [['jitter_seconds=5s'], [], /must be a whole number/],
    [['jitter_seconds='], [], /must be a whole number/],
    [['catch_up_seconds=-1'], [], /must be a whole number/],
    [['overlap=skip'], ['overlap'], /given twice/],
    [[], ['all'], /there is no "all"/],
  ] as const)
    assert.throws(
      () => readTiming(pairs, unset),
      (error: unknown) => error instanceof UsageFault && message.test(error.message),
    )
})

test('a time has its zone', () => {
  assert.equal(readTime('--from', '2026-11-21T09:00+01:00'), '2026-11-21T08:00:00.000Z')
  assert.equal(readTime('--from', '2026-11-21T08:00:00.5Z'), '2026-11-21T08:00:00.500Z')
  for (const text of [
    '',
    'yesterday',
    '2026-11-21',
    '2026-11-21T08:00',
    '2026-13-01T00:00Z',
    '2026-11-21 08:00Z',
  ])
    assert.throws(() => readTime('--from', text), UsageFault, text)
})
