import assert from 'node:assert/strict'
import { test } from 'node:test'
import { becomes } from './becomes.ts'

test('what is true is not waited for, also without any time', async () => {
  assert.equal(await becomes(() => true, 0), true)
})

test('what comes true is seen', async () => {
  let asked = 0
  assert.equal(await becomes(async () => ++asked === 3, 10_000), true)
  assert.equal(asked, 3)
})

test('what stays false is given up', async () => {
  let asked = 0
  assert.equal(await becomes(() => ++asked < 0, 60), false)
  assert.ok(asked >= 2)
})

test('what comes true in the last moment counts: the last question is asked when the time is over', async () => {
  const endsAtMs = performance.now() + 60
  assert.equal(await becomes(() => performance.now() >= endsAtMs, 60), true)
})

test('a condition that fails is no answer', async () => {
  await assert.rejects(
    becomes(() => Promise.reject(new Error('broken')), 60),
    /broken/,
  )
})
