import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askWhileHeld } from './ask-while-held.ts'

const held = () => ({ signal: new AbortController().signal, onFailure: () => {} })
const away = () => new Error('Connection terminated unexpectedly')

test('a database that is away is asked again', async () => {
  let asked = 0
  const answer = await askWhileHeld(async () => {
    asked += 1
    if (asked === 1) throw away()
    return 7
  }, held())
  assert.deepEqual([answer, asked], [{ kind: 'answered', answer: 7 }, 2])
})

test('what the database refuses is not asked again', async () => {
  await assert.rejects(
    askWhileHeld(() => Promise.reject(new Error('no such column')), held()),
    /no such column/,
  )
})

test('who is stopped does not wait for an answer that never comes', async () => {
  const stopping = new AbortController()
  const asking = askWhileHeld(() => new Promise<number>(() => {}), {
    signal: stopping.signal,
    onFailure: () => {},
  })
  stopping.abort()
  assert.deepEqual(await asking, { kind: 'stopped' })
  const before = await askWhileHeld(async () => 7, { signal: stopping.signal, onFailure: () => {} })
  assert.deepEqual(before, { kind: 'stopped' })
})

test('who is stopped while the database is away does not ask on', async () => {
  const stopping = new AbortController()
  let asked = 0
  const ask = async () => {
    asked += 1
    stopping.abort()
    throw away()
  }
  assert.deepEqual(await askWhileHeld(ask, { signal: stopping.signal, onFailure: () => {} }), {
    kind: 'stopped',
  })
  assert.equal(asked, 1)
})
