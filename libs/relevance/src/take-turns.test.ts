import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createTurns } from './take-turns.ts'

function openTurns(atOnceMax: number) {
  const turns = createTurns(atOnceMax)
  const began: string[] = []
  const holds: PromiseWithResolvers<void>[] = []
  const take = (asker: string, name = asker) =>
    turns.take(asker, async () => {
      began.push(name)
      const hold = Promise.withResolvers<void>()
      holds.push(hold)
      await hold.promise
      return name
    })
  /** Ends the one that began first. */
  const end = async () => {
    holds.shift()?.resolve()
    await setImmediate()
  }
  return { take, end, began }
}

test('who asks once does not wait for all that another has asked for before', async () => {
  const { take, end, began } = openTurns(1)
  const many = ['a1', 'a2', 'a3', 'a4'].map((name) => take('a', name))
  const other = take('b')
  for (let i = 0; i < 5; i += 1) await end()
  assert.deepEqual(began, ['a1', 'a2', 'b', 'a3', 'a4'])
  assert.deepEqual(await Promise.all([...many, other]), ['a1', 'a2', 'a3', 'a4', 'b'])
})

test('four of one asker wait and no more; others still may', async () => {
  const { take, end, began } = openTurns(2)
  const asked = Array.from({ length: 10 }, () => take('a'))
  assert.deepEqual(
    asked.map((one) => one !== null),
    [true, true, true, true, true, true, false, false, false, false],
  )
  assert.notEqual(take('b'), null)
  while (began.length < 7) await end()
  assert.notEqual(take('a'), null)
})

test('a work that fails gives its turn away', async () => {
  const turns = createTurns(1)
  const failing = turns.take('a', async () => Promise.reject(new Error('no')))
  const next = turns.take('b', async () => 'yes')
  await assert.rejects(failing ?? Promise.resolve(), /no/)
  assert.equal(await next, 'yes')
})

test('however many askers there are, so many wait and no more', () => {
  const { take } = openTurns(1)
  const asked = Array.from({ length: 300 }, (_, i) => take(`a${i}`))
  assert.equal(asked.filter((one) => one !== null).length, 257)
})
