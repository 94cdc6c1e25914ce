import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareTurns } from './share-turns.ts'

function openWork() {
  const turns: PromiseWithResolvers<void>[] = []
  const ask = shareTurns(() => {
    const turn = Promise.withResolvers<void>()
    turns.push(turn)
    return turn.promise
  })
  return { turns, ask }
}
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve))

test('who asks during a turn is answered by the next, which all of them share and which is never beside another', async () => {
  const { turns, ask } = openWork()
  const first = ask()
  const others = [ask(), ask(), ask()]
  assert.equal(turns.length, 1)
  turns[0]?.resolve()
  await first
  // Between the two.
  const late = ask()
  await settle()
  assert.equal(turns.length, 2)
  turns[1]?.resolve()
  await Promise.all([...others, late])
  assert.equal(turns.length, 2)
  const again = ask()
  assert.equal(turns.length, 3)
  turns[2]?.resolve()
  await again
})

test('a turn that fails is told to whom it answers, and to nobody else', async () => {
  const { turns, ask } = openWork()
  const first = assert.rejects(ask(), /no/)
  const second = ask()
  turns[0]?.reject(new Error('no'))
  await first
  await settle()
  turns[1]?.resolve()
  await second
})
