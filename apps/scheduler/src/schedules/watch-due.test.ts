import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNextDue } from '@toolyard/schedules/find-next-due'
import { at, makeGround } from '@toolyard/schedules/fixtures/ground'
import { reconcile } from '@toolyard/schedules/reconcile'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { pauseAfter, watchDue } from './watch-due.ts'

const ground = await makeGround()
const { pool } = ground

test('the next look is at the moment of the next tick, and within a second', () => {
  assert.equal(pauseAfter(false, { isLeft: false, inMs: undefined }), 1_000)
  assert.equal(pauseAfter(false, { isLeft: false, inMs: 5_000 }), 1_000)
  assert.equal(pauseAfter(true, { isLeft: false, inMs: 300 }), 300)
  // It was not due yet when the last look was begun.
  assert.equal(pauseAfter(false, { isLeft: false, inMs: -3 }), 20)
})

test('what stays due is looked at soon while something comes of it, and else after a while', () => {
  assert.equal(pauseAfter(true, { isLeft: true, inMs: 700 }), 20)
  assert.equal(pauseAfter(false, { isLeft: true, inMs: 700 }), 250)
  assert.equal(pauseAfter(false, { isLeft: true, inMs: undefined }), 250)
  // The tick of another schedule is not put off for that.
  assert.equal(pauseAfter(false, { isLeft: true, inMs: 90 }), 90)
})

test('what was due at the last look is told from what comes next', async () => {
  await ground.makeCron('hourly', { schedule: '@hourly' })
  await reconcile(ground.deps, at('10:00:00'))
  const before = await findNextDue(pool, at('10:59:59'))
  assert.equal(before.isLeft, false)
  const leftMs = at('11:00:00').getTime() - Date.now()
  assert.ok(Math.abs((before.inMs ?? 0) - leftMs) < 60_000, JSON.stringify(before))
  assert.deepEqual(await findNextDue(pool, at('11:00:00')), { isLeft: true, inMs: undefined })
})

test('a tick that nothing can be done about does not keep the scheduler busy', async (t) => {
  await ground.makeCron('stuck', { schedule: '@hourly' })
  await reconcile(ground.deps, new Date(Date.now() - 7_200_000))
  const looks: number[] = []
  const watch = watchDue({
    pool,
    fire: async () => looks.push(performance.now()) < 0,
    onFailure: (error) => assert.fail(String(error)),
  })
  t.after(() => watch.stop())
  await waitUntil('four looks', () => looks.length >= 4)
  const [first = 0] = looks
  assert.ok((looks[3] ?? 0) - first >= 740, looks.join())
})
