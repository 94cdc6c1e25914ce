import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overlaps } from '../schedules/schedule.ts'
import { at, timeOf } from '../../fixtures/ground.ts'
import type { OpenTicks } from './decide-ticks.ts'
import { decideTick, decideTicks, noOpenTicks } from './decide-ticks.ts'
import type { Origin } from './tick.ts'

const due = ['10:01:00', '10:02:00', '10:03:00'].map(at)

const waiting = (...ticks: [string, Origin][]): OpenTicks['buffered'] =>
  ticks.map(([time, origin]) => ({ tickAt: at(time), origin }))

function decide(overlap: (typeof overlaps)[number], open: Partial<OpenTicks> = {}, ticks = due) {
  const decision = decideTicks({
    due: ticks,
    isCut: false,
    now: at('10:03:00'),
    timing: { overlap, catch_up_seconds: 3_600 },
    open: { ...noOpenTicks, ...open },
  })
  const words = [
    ...decision.starts.map(
      ({ tickAt, isBuffered }) => `${timeOf(tickAt)} ${isBuffered ? 'wakes' : 'starts'}`,
    ),
    ...decision.rest.map(({ tickAt, fate, reason }) => `${timeOf(tickAt)} ${fate} ${reason ?? ''}`.trim()),
  ]
  return decision.isCancelling ? [...words.toSorted(), 'cancels'] : words.toSorted()
}

test('skip: one runs, and whatever comes meanwhile is skipped', () => {
  const overlap = ['10:02 skipped overlap', '10:03 skipped overlap']
  assert.deepEqual(decide('skip'), ['10:01 starts', ...overlap])
  assert.deepEqual(decide('skip', { runningCount: 1 }), ['10:01 skipped overlap', ...overlap])
})

test('buffer_one: one runs, one waits, the others are skipped', () => {
  assert.deepEqual(decide('buffer_one'), ['10:01 starts', '10:02 buffered', '10:03 skipped overlap'])
  assert.deepEqual(decide('buffer_one', { runningCount: 1 }), [
    '10:01 buffered',
    '10:02 skipped overlap',
    '10:03 skipped overlap',
  ])
  const buffered = waiting(['10:00:00', 'schedule'])
  assert.deepEqual(decide('buffer_one', { runningCount: 1, buffered }), [
    '10:01 skipped overlap',
    '10:02 skipped overlap',
    '10:03 skipped overlap',
  ])
  assert.deepEqual(decide('buffer_one', { buffered }), [
    '10:00 wakes',
    '10:01 buffered',
    '10:02 skipped overlap',
    '10:03 skipped overlap',
  ])
})

test('allow: all run, and so does what waited under another policy', () => {
  const all = ['10:01 starts', '10:02 starts', '10:03 starts']
  assert.deepEqual(decide('allow', { runningCount: 7 }), all)
  assert.deepEqual(
    decide('allow', {
      runningCount: 1,
      buffered: waiting(['09:58:00', 'backfill'], ['09:59:00', 'backfill']),
    }),
    ['09:58 wakes', '09:59 wakes', ...all],
  )
})

test('cancel_other: the newest takes the place of whatever runs, and older ones are not begun for that', () => {
  const newest = ['10:01 skipped overtaken', '10:02 skipped overtaken', '10:03 starts', 'cancels']
  assert.deepEqual(decide('cancel_other'), newest)
  assert.deepEqual(decide('cancel_other', { runningCount: 2 }), newest)
  assert.deepEqual(decide('cancel_other', { runningCount: 2 }, []), [])
  // What waits under another policy goes on waiting for the newest.
  assert.deepEqual(decide('cancel_other', { buffered: waiting(['10:00:00', 'backfill']) }), newest)
  assert.deepEqual(decide('cancel_other', { buffered: waiting(['10:00:00', 'backfill']) }, []), [
    '10:00 wakes',
  ])
})

test('a backfill runs one after the other, and does not take the one place of a tick that may wait', () => {
  const buffered = waiting(['09:58:00', 'backfill'], ['09:59:00', 'backfill'])
  for (const overlap of ['skip', 'buffer_one', 'cancel_other'] as const) {
    assert.deepEqual(decide(overlap, { buffered }, []), ['09:58 wakes'])
    assert.deepEqual(decide(overlap, { runningCount: 1, buffered }, []), [])
  }
  assert.deepEqual(decide('buffer_one', { runningCount: 1, buffered }, due.slice(0, 2)), [
    '10:01 buffered',
    '10:02 skipped overlap',
  ])
})

test('a tick waits for the end of a backfill run, whatever the policy, and one at a time', () => {
  const buffered = waiting(['09:58:00', 'backfill'])
  for (const overlap of ['skip', 'buffer_one'] as const) {
    assert.deepEqual(decide(overlap, { runningCount: 1, backfillCount: 1, buffered }), [
      '10:01 buffered',
      '10:02 skipped overlap',
      '10:03 skipped overlap',
    ])
    const waits = waiting(['09:58:00', 'backfill'], ['10:00:00', 'schedule'])
    assert.deepEqual(
      decide(overlap, { runningCount: 1, backfillCount: 1, buffered: waits }, due.slice(0, 1)),
      ['10:01 skipped overlap'],
    )
    // The older ticks of the backfill let it go first.
    assert.deepEqual(decide(overlap, { buffered: waits }, []), ['10:00 wakes'])
  }
  // Beside another run it is that which is in the way.
  assert.deepEqual(decide('skip', { runningCount: 2, backfillCount: 1, buffered }, due.slice(0, 1)), [
    '10:01 skipped overlap',
  ])
})

test('where nothing runs, what is due goes before a backfill, and never beside it', () => {
  const buffered = waiting(['09:58:00', 'backfill'])
  assert.deepEqual(decide('skip', { buffered }, due.slice(0, 1)), ['10:01 starts'])
  assert.deepEqual(decide('buffer_one', { buffered }, due.slice(0, 2)), ['10:01 starts', '10:02 buffered'])
  // What is too late is in nobody's way.
  assert.deepEqual(decide('skip', { buffered }, [at('09:00:00')]), ['09:00 missed late', '09:58 wakes'])
  const { starts } = decideTicks({
    due,
    isCut: false,
    now: at('10:03:00'),
    timing: { overlap: 'allow', catch_up_seconds: 3_600 },
    open: { ...noOpenTicks, buffered: waiting(['09:58:00', 'backfill'], ['09:59:00', 'manual']) },
  })
  assert.deepEqual(
    starts.map(({ tickAt }) => timeOf(tickAt)),
    ['09:59', '10:01', '10:02', '10:03', '09:58'],
  )
})

test('while newer ticks are due that are not looked at yet, none is begun that they overtake, and no backfill', () => {
  const decideCut = (overlap: (typeof overlaps)[number], now: string) =>
    decideTicks({
      due,
      isCut: true,
      now: at(now),
      timing: { overlap, catch_up_seconds: 3_600 },
      open: { ...noOpenTicks, buffered: waiting(['09:58:00', 'backfill']) },
    })
  assert.deepEqual(decideCut('skip', '12:00:00').starts, [])
  const decision = decideCut('cancel_other', '11:00:00')
  assert.deepEqual([decision.starts, decision.isCancelling], [[], false])
  assert.deepEqual(
    decision.rest.map(({ reason }) => reason),
    ['overtaken', 'overtaken', 'overtaken'],
  )
})

test('a tick that is later than it may be is missed, to the millisecond', () => {
  const decideAt = (now: string, seconds: number) =>
    decideTicks({
      due: [at('10:01:00')],
      isCut: false,
      now: at(now),
      timing: { overlap: 'allow', catch_up_seconds: seconds },
      open: noOpenTicks,
    })
  assert.equal(decideAt('10:06:00.000', 300).starts.length, 1)
  assert.deepEqual(decideAt('10:06:00.001', 300).rest, [
    { tickAt: at('10:01:00'), origin: 'schedule', isBuffered: false, fate: 'missed', reason: 'late' },
  ])
  // With nothing to be caught up an alarm may still be a moment late.
  assert.equal(decideAt('10:01:10.000', 0).starts.length, 1)
  assert.equal(decideAt('10:01:10.001', 0).starts.length, 0)
})

test('where nothing runs every policy starts, and only buffer_one lets one wait', () => {
  for (const overlap of overlaps) {
    assert.equal(decideTick(overlap, { ...noOpenTicks, waitingCount: 0 }), 'start')
    for (const waitingCount of [0, 1, 5]) {
      const verdict = decideTick(overlap, { ...noOpenTicks, runningCount: 1, waitingCount })
      const expected = {
        skip: 'skip',
        buffer_one: waitingCount === 0 ? 'buffer' : 'skip',
        allow: 'start',
        cancel_other: 'start',
      }
      assert.equal(verdict, expected[overlap])
    }
  }
})
