import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closeInTime } from './close-in-time.ts'

const never = () => new Promise<void>(() => {})

test('what closes in time is waited for', async () => {
  let isClosed = false
  const close = async () => {
    await Promise.resolve()
    isClosed = true
  }
  assert.equal(await closeInTime(close, new AbortController().signal), true)
  assert.ok(isClosed)
})

test('what does not close is left when the time is over, also when it is over already', async () => {
  assert.equal(await closeInTime(never, AbortSignal.timeout(20)), false)
  assert.equal(await closeInTime(never, AbortSignal.abort()), false)
})

test('a close that fails is told', async () => {
  const fail = () => Promise.reject(new Error('no engine'))
  await assert.rejects(closeInTime(fail, new AbortController().signal), /no engine/)
})
