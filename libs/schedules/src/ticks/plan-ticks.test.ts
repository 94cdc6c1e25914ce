import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { at, timeOf } from '../../fixtures/ground.ts'
import type { Adopted } from '../schedules/adopt-versions.ts'
import type { Overlap, ScheduleRow } from '../schedules/schedule.ts'
import type { OpenTicks } from './decide-ticks.ts'
import { noOpenTicks } from './decide-ticks.ts'
import type { StartAnswer } from './plan-ticks.ts'
import { dueTicks, planTicks, settlePlan, shareOf, ticksMax } from './plan-ticks.ts'

const rowOf = (parts: Partial<ScheduleRow> & { overlap?: Overlap; text?: string } = {}): ScheduleRow => ({
  tool: 'digest',
  hash: 'h1',
  asked: {
    schedule: parts.text ?? '*/1',
    timezone: 'UTC',
    overlap: parts.overlap ?? 'allow',
    catch_up_seconds: 3_600,
    jitter_seconds: 0,
    pause_after: null,
  },
  overrides: {},
  call: { params: {}, input: 'argument', settings: {}, fault: null },
  is_active: true,
  last_tick_at: at('10:00:00'),
  next_tick_at: at('10:01:00'),
  paused_at: null,
  paused_reason: null,
  failures: 0,
  last_invocation_id: null,
  last_status: null,
  last_failure: null,
  last_ended_at: null,
  fired_count: 0,
  skipped_count: 0,
  missed_count: 0,
  superseded_count: 0,
  ...parts,
})

const adoptedOf = (row: ScheduleRow): Adopted => ({ row, before: row, isChanged: false, asked: row.asked })
const now = at('10:04:30')

function plan(row: ScheduleRow, known: Date[] = [], open: OpenTicks = noOpenTicks) {
  const facts = {
    ...dueTicks(row, now, ticksMax),
    known: new Set(known.map(Number)),
    open,
    now,
    share: shareOf(1),
  }
  return planTicks(adoptedOf(row), facts)
}

const accepted = (invocationId: string): StartAnswer => ({ kind: 'accepted', invocationId })
const refused = (code: string): StartAnswer => ({
  kind: 'refused',
  code,
  refusal: new AppError('internal', code),
})

function settle(row: ScheduleRow, answers: StartAnswer[], open: OpenTicks = noOpenTicks) {
  const { fired, rest, until, isCancelling, left } = settlePlan(plan(row, [], open), answers)
  return {
    fired: fired.map(({ tickAt }) => timeOf(tickAt)),
    rest: rest.map(({ tickAt, fate, reason }) => `${timeOf(tickAt)} ${fate} ${reason ?? ''}`).toSorted(),
    until: timeOf(until),
    isCancelling,
    left,
  }
}

test('what is accepted is fired, and all is settled up to the last tick', () => {
  assert.deepEqual(settle(rowOf(), ['a', 'b', 'c', 'd'].map(accepted)), {
    fired: ['10:01', '10:02', '10:03', '10:04'],
    rest: [],
    until: '10:04',
    isCancelling: false,
    left: 'nothing',
  })
  assert.equal(settle(rowOf({ overlap: 'cancel_other' }), [accepted('a')]).isCancelling, true)
})

test('from the first tick that finds no room on nothing is settled', () => {
  const answers = [accepted('a'), refused('queue_full'), refused('queue_full'), refused('queue_full')]
  assert.deepEqual(settle(rowOf(), answers), {
    fired: ['10:01'],
    rest: [],
    until: '10:01',
    isCancelling: false,
    left: 'full',
  })
  const skipping = settle(rowOf({ overlap: 'skip' }), [refused('queue_full')])
  assert.deepEqual([skipping.rest, skipping.until], [[], '10:00'])
})

test('what would have given way to a run that was refused is missed for the same reason', () => {
  for (const overlap of ['skip', 'buffer_one', 'cancel_other'] as const) {
    const settled = settle(rowOf({ overlap }), [refused('tool_disabled')])
    assert.deepEqual(
      settled.rest,
      ['10:01', '10:02', '10:03', '10:04'].map((time) => `${time} missed tool_disabled`),
    )
    assert.deepEqual([settled.until, settled.isCancelling, settled.left], ['10:04', false, 'nothing'])
  }
})

test('a tool that has changed meanwhile is looked at anew, and nothing is written', () => {
  const settled = settle(rowOf({ overlap: 'skip' }), [refused('tool_changed')])
  assert.deepEqual(settled, { fired: [], rest: [], until: '10:00', isCancelling: false, left: 'changed' })
})

test('more ticks than one transaction takes are left for the next', () => {
  const row = rowOf({ text: '* * * * * *', last_tick_at: at('09:00:00') })
  const { due, starts } = plan(row)
  assert.deepEqual([due.length, starts.length], [ticksMax, 1_000 - 269])
  const settled = settlePlan(
    plan(row),
    starts.map((_, index) => accepted(`${index}`)),
  )
  assert.deepEqual([settled.left, settled.until], ['more', at('09:16:40')])
})

test('a schedule has a share of what all of a transaction may settle, and is never without', () => {
  // Others may have all of them in hand.
  for (const schedules of [0, 1]) assert.deepEqual(shareOf(schedules), { ticks: 1_000, starts: 200 })
  assert.deepEqual(shareOf(100), { ticks: 10, starts: 2 })
  assert.deepEqual(shareOf(5_000), { ticks: 1, starts: 1 })
})

test('what a share leaves over is known to the tick', () => {
  const row = rowOf()
  assert.deepEqual(dueTicks(row, now, 4).isCut, false)
  const { due, isCut } = dueTicks(row, now, 3)
  assert.deepEqual([due.map(timeOf), isCut], [['10:01', '10:02', '10:03'], true])
})

test('from the first start on that was not tried nothing is settled, and it is tried at once', () => {
  assert.deepEqual(settle(rowOf(), ['a', 'b'].map(accepted)), {
    fired: ['10:01', '10:02'],
    rest: [],
    until: '10:02',
    isCancelling: false,
    left: 'more',
  })
  const old = rowOf({ last_tick_at: at('09:02:00') })
  const { fired, rest, until } = settle(old, [accepted('a')])
  assert.deepEqual([fired, rest, until], [['09:05'], ['09:03 missed late', '09:04 missed late'], '09:05'])
  // A tool that is refused is refused again.
  const lost = settle(rowOf(), [refused('tool_disabled')])
  assert.deepEqual([lost.rest, lost.until, lost.left], [['10:01 missed tool_disabled'], '10:01', 'more'])
})

test('a backfill that finds no room keeps nothing that was due from being settled', () => {
  const waiting = (origin: 'schedule' | 'backfill') => ({
    ...noOpenTicks,
    buffered: [{ tickAt: at('09:00:00'), origin }],
  })
  const four = ['a', 'b', 'c', 'd'].map(accepted)
  const behind = settle(rowOf(), [...four, refused('queue_full')], waiting('backfill'))
  assert.deepEqual([behind.fired.length, behind.until, behind.left], [4, '10:04', 'full'])
  const before = settle(rowOf(), [refused('queue_full')], waiting('schedule'))
  assert.deepEqual([before.fired, before.until, before.left], [[], '10:00', 'full'])
})

test('a tick that has a row is not planned, and is settled all the same', () => {
  const { starts, due } = plan(rowOf(), [at('10:02:00'), at('10:04:00')])
  assert.deepEqual(
    starts.map(({ tickAt }) => timeOf(tickAt)),
    ['10:01', '10:03'],
  )
  assert.equal(due.length, 4)
})

test('of a schedule that is paused or gone nothing is due', () => {
  const buffered = [{ tickAt: at('10:00:00'), origin: 'backfill' as const }]
  for (const parts of [{ paused_at: now }, { is_active: false }]) {
    const row = rowOf(parts)
    assert.deepEqual(dueTicks(row, now, ticksMax), { due: [], isCut: false })
    const facts = {
      due: [],
      isCut: false,
      known: new Set<number>(),
      open: { ...noOpenTicks, buffered },
      now,
      share: shareOf(1),
    }
    const { starts, rest } = planTicks(adoptedOf(row), facts)
    // What waits goes on waiting for the end of a pause, and for nothing where there is no schedule any more.
    assert.deepEqual([starts, rest.map(({ reason }) => reason)], [[], row.is_active ? [] : ['not_scheduled']])
  }
})

test('what waits for a schedule that is gone is given up in pieces, too', () => {
  const buffered = ['09:00:00', '09:01:00', '09:02:00'].map((time) => ({
    tickAt: at(time),
    origin: 'backfill' as const,
  }))
  const given = (count: number) => {
    const facts = { due: [], isCut: false, known: new Set<number>(), now, share: { ticks: 2, starts: 1 } }
    const open = { ...noOpenTicks, buffered: buffered.slice(0, count) }
    const { rest, left } = settlePlan(
      planTicks(adoptedOf(rowOf({ is_active: false })), { ...facts, open }),
      [],
    )
    return [rest.length, left]
  }
  assert.deepEqual(given(3), [2, 'more'])
  assert.deepEqual(given(2), [2, 'nothing'])
})
