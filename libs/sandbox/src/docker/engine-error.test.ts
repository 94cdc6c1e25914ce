import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { callEngine } from './engine-error.ts'

test('a call is over with its signal, or with its time, and tells whoever makes it', async () => {
  const controller = new AbortController()
  const told: boolean[] = []
  const never = (signal: AbortSignal) =>
    new Promise<never>(() => signal.addEventListener('abort', () => told.push(signal.aborted)))
  const called = callEngine(60_000, never, controller.signal)
  controller.abort()
  await assert.rejects(called, { name: 'EngineError', message: 'the call was cancelled', status: undefined })
  await assert.rejects(callEngine(1, never), /did not answer within 1 ms/)
  assert.deepEqual(told, [true, true])
  await assert.rejects(callEngine(60_000, never, controller.signal), /cancelled/)
})

test('a call that ends by itself leaves nothing at its signal', async () => {
  const { signal } = new AbortController()
  assert.equal(await callEngine(60_000, async () => 'answer', signal), 'answer')
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})
