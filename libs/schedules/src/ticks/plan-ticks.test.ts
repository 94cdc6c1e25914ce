import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, timeOf } from '../../fixtures/ground.ts'
import type { Adopted } from '../schedules/adopt-versions.ts'
import type { Overlap, ScheduleRow } from '../schedules/schedule.ts'
import { noOpenTicks } from './decide-ticks.ts'
import type { StartAnswer } from './plan-ticks.ts'
import { dueTicks, planTicks, settlePlan, ticksMax } from './plan-ticks.ts'

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
  call: { params: {}, input: 'argument', settings: {}, cost_budget: null, fault: null },
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

function plan(row: ScheduleRow, known: Date[] = []) {
  const facts = { due: dueTicks(row, now), known: new Set(known.map(Number)), open: noOpenTicks, now }
  return planTicks(adoptedOf(row), facts)
}

const accepted = (invocationId: string): StartAnswer => ({ kind: 'accepted', invocationId })
const refused = (code: string): StartAnswer => ({ kind: 'refused', code })

function settle(row: ScheduleRow, answers: StartAnswer[]) {
  const { fired, rest, until, isCancelling, left } = settlePlan(plan(row), answers)
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
    assert.deepEqual(dueTicks(row, now), [])
    const facts = { due: [], known: new Set<number>(), open: { runningCount: 0, buffered }, now }
    const { starts, rest } = planTicks(adoptedOf(row), facts)
    // What waits goes on waiting for the end of a pause, and for nothing where there is no schedule any more.
    assert.deepEqual([starts, rest.map(({ reason }) => reason)], [[], row.is_active ? [] : ['not_scheduled']])
  }
})
