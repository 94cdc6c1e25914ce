import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delayMaxMs, idempotencyKeyMax, ttlMaxMs } from './call-limits.ts'
import { idempotencyKey, invocationStatuses, invokeBody, isFinal } from './invocations.ts'

test('an invocation is final in five of seven states', () => {
  assert.deepEqual(
    invocationStatuses.filter((status) => !isFinal(status)),
    ['queued', 'running'],
  )
  assert.equal(invocationStatuses.length, 7)
})

test('a call waits for 30 days and a week at most, and its key is short', () => {
  const takes = (body: object) => invokeBody.safeParse(body).success
  assert.equal(delayMaxMs, 2_592_000_000)
  assert.equal(ttlMaxMs, 604_800_000)
  assert.deepEqual(
    [
      { delay_ms: delayMaxMs },
      { delay_ms: delayMaxMs + 1 },
      { ttl_ms: ttlMaxMs },
      { ttl_ms: ttlMaxMs + 1 },
    ].map(takes),
    [true, false, true, false],
  )
  assert.deepEqual([{ priority: 0 }, { priority: 9 }, { priority: 10 }].map(takes), [true, true, false])
  assert.equal(idempotencyKey.safeParse('k'.repeat(idempotencyKeyMax)).success, true)
  assert.equal(idempotencyKey.safeParse('k'.repeat(idempotencyKeyMax + 1)).success, false)
})
