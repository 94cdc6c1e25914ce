import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerTo } from './take-job.ts'

test('a row that nobody can claim ends its job quietly', () => {
  for (const reason of ['gone', 'not_queued', 'other_attempt', 'expired'] as const)
    assert.deepEqual(answerTo({ kind: 'not_claimable', reason }), { done: true })
})

test('a row whose time comes brings its job back then', () => {
  for (const reason of ['delayed', 'tools_disabled', 'image building'] as const)
    assert.deepEqual(answerTo({ kind: 'waiting', reason, againMs: 700 }), { again: { delayMs: 700 } })
})

test('a row that waits for a slot is queued anew by whoever frees one', () => {
  assert.deepEqual(answerTo({ kind: 'waiting', reason: 'concurrency limit' }), { done: true })
})
