import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScheduleShape } from '@toolyard/contract/schedules'
import { createPaint } from '../text/paint.ts'
import { listLines, nextLines, scheduleLines } from './schedule-lines.ts'

const paint = createPaint({}, {})

const schedule = (more: Partial<ScheduleShape> = {}): ScheduleShape => ({
  tool: 'report',
  schedule: '0 8 * * 1',
  timezone: 'Europe/Berlin',
  overlap: 'skip',
  catch_up_seconds: 3_600,
  jitter_seconds: 0,
  pause_after: null,
  overrides: [],
  paused: null,
  next: [{ at: '2031-05-05T06:00:00.000Z', local: '2031-05-05T08:00:00+02:00' }],
  last_tick_at: '2031-04-28T06:00:00.000Z',
  last_result: null,
  failures_in_a_row: 0,
  fired: 3,
  skipped: 1,
  missed: 2,
  prompts_superseded: 0,
  faults: [],
  ...more,
})

const failed = {
  invocation_id: 'inv_1',
  status: 'failed',
  failure: { kind: 'tool_error', message: 'no such city' },
  ended_at: '2031-04-28T06:00:02.000Z',
}

test('a list says of each when it runs next, how the last run ended, and what is wrong', () => {
  const lines = listLines(
    [
      schedule(),
      schedule({ tool: 'idle', paused: { at: '2031-05-01T00:00:00.000Z', reason: 'moving' }, next: [] }),
      schedule({
        tool: 'broken',
        next: [],
        faults: ['schedule must name a day that comes'],
        last_result: failed,
      }),
    ],
    paint,
  )
  assert.deepEqual(lines, [
    'TOOL    SCHEDULE                 NEXT                       LAST    MISSED  SKIPPED',
    'report  0 8 * * 1 Europe/Berlin  2031-05-05T08:00:00+02:00  -       2       1',
    'idle    0 8 * * 1 Europe/Berlin  paused                     -       2       1',
    '  paused since 2031-05-01T00:00:00.000Z: moving',
    'broken  0 8 * * 1 Europe/Berlin  never                      failed  2       1',
    '  schedule must name a day that comes',
  ])
  assert.deepEqual(listLines([], paint), ['There is no cron tool; see docs/schedules.md'])
})

test('one schedule is shown with all that decides about its times, and what became of them', () => {
  const shown = schedule({ overrides: ['schedule', 'overlap'], pause_after: 3, last_result: failed })
  const ticks = [
    {
      tick_at: '2031-04-28T06:00:00.000Z',
      origin: 'schedule' as const,
      fate: 'fired' as const,
      reason: null,
      invocation_id: 'inv_1',
      status: 'failed',
    },
    {
      tick_at: '2031-04-21T06:00:00.000Z',
      origin: 'backfill' as const,
      fate: 'missed' as const,
      reason: 'late',
      invocation_id: null,
      status: null,
    },
  ]
  assert.deepEqual(scheduleLines({ ...shown, ticks }, paint), [
    'report  0 8 * * 1 Europe/Berlin',
    '  overlap   skip',
    '  catch-up  3600 s',
    '  jitter    0 s',
    '  pauses    after 3 failures in a row',
    '  set here  schedule, overlap',
    '  last      failed  2031-04-28T06:00:02.000Z inv_1  tool_error: no such city',
    '  so far    3 fired, 1 skipped, 2 missed, 0 failures in a row, 0 prompts superseded',
    'next',
    '  2031-05-05T08:00:00+02:00',
    'TIME                      BY        FATE    STATUS',
    '2031-04-28T06:00:00.000Z  schedule  fired   failed  inv_1',
    '2031-04-21T06:00:00.000Z  backfill  missed  -       late',
  ])
})

test('no text of a tool or of an operator steers the terminal that shows it', () => {
  const evil = '\u001b[2J\u202e\rgone'
  const shown = schedule({
    tool: evil,
    schedule: evil,
    timezone: evil,
    overrides: [evil],
    paused: { at: evil, reason: evil },
    next: [{ at: evil, local: evil }],
    last_result: { ...failed, status: evil, failure: { kind: evil, message: evil } },
    faults: [evil],
  })
  const tick = { origin: 'manual', fate: 'missed' } as const
  const ticks = [{ ...tick, tick_at: evil, reason: evil, invocation_id: null, status: evil }]
  for (const line of [
    ...listLines([shown], paint),
    ...scheduleLines({ ...shown, ticks }, paint),
    ...nextLines(shown),
  ])
    assert.doesNotMatch(line, /(?!\n)[\p{Cc}\u202e]/u)
})
