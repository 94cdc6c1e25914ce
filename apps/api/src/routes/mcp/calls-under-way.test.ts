import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { createCallsUnderWay } from './calls-under-way.ts'

const call = (requestId: number | string, keyId = 'key_1', session = 'mcp_1') => ({
  keyId,
  session,
  requestId,
})

test('a call that is ended before it begins is ended when it does, once', () => {
  const calls = createCallsUnderWay()
  calls.end(call(1))
  const ended = calls.begin(call(1))
  assert.equal(ended.signal.aborted, true)
  ended.done()
  assert.equal(calls.begin(call(1)).signal.aborted, false)
})

test('only the same key, session and id end a call, before it begins as well', () => {
  const calls = createCallsUnderWay()
  for (const other of [call(1, 'key_2'), call(1, 'key_1', 'mcp_2'), call('1'), call(2)]) calls.end(other)
  const { signal } = calls.begin(call(1))
  assert.equal(signal.aborted, false)
  calls.end(call(1, 'key_2'))
  assert.equal(signal.aborted, false)
  calls.end(call(1))
  assert.equal(signal.aborted, true)
})

test('what comes for no call is kept for a moment, and of one key not without end', async () => {
  const calls = createCallsUnderWay({ keepMs: 50, keptMax: 2 })
  for (const id of [1, 2, 3]) calls.end(call(id))
  calls.end(call(4, 'key_2'))
  const isEnded = (id: number, keyId?: string) => {
    const { signal, done } = calls.begin(call(id, keyId))
    done()
    return signal.aborted
  }
  assert.deepEqual([isEnded(3), isEnded(4, 'key_2')], [false, true])
  await waitUntil('there to be room again', () => {
    calls.end(call(3))
    return isEnded(3)
  })
  assert.deepEqual([isEnded(1), isEnded(2)], [false, false])
})
