import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryBudget, memoryForTools } from './memory-budget.ts'

const never = new AbortController().signal

/** Asks, and notes when it is given. */
function ask(budget: ReturnType<typeof createMemoryBudget>, bytes: number, signal: AbortSignal = never) {
  const asked = { kind: 'waiting', release: () => {} }
  const answer = budget.take(bytes, signal).then((room) => {
    asked.kind = room.kind
    if (room.kind === 'granted') asked.release = room.release
    return room
  })
  return { asked, answer }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('memory is given until it is used up, then in the order of asking', async () => {
  const budget = createMemoryBudget(100)
  const all = [60, 40, 50, 10].map((bytes) => ask(budget, bytes))
  await settle()
  const kinds = () => all.map(({ asked }) => asked.kind)
  assert.deepEqual(kinds(), ['granted', 'granted', 'waiting', 'waiting'])
  all[1]?.asked.release()
  await settle()
  assert.deepEqual(kinds(), ['granted', 'granted', 'waiting', 'waiting'], 'the small one does not overtake')
  all[0]?.asked.release()
  await settle()
  assert.deepEqual(kinds(), ['granted', 'granted', 'granted', 'granted'])
  assert.deepEqual(budget.usage(), { totalBytes: 100, takenBytes: 60, waiting: 0 })
})

test('what is given back twice counts once', async () => {
  const budget = createMemoryBudget(100)
  const one = await budget.take(100, never)
  assert.ok(one.kind === 'granted')
  one.release()
  one.release()
  assert.equal(budget.usage().takenBytes, 0)
})

test('more than there is is said at once, however little is free', async () => {
  const budget = createMemoryBudget(100)
  await budget.take(100, never)
  assert.deepEqual(await budget.take(101, never), { kind: 'too_large', totalBytes: 100 })
})

test('who gives up leaves the line, and the next that fits goes on', async () => {
  const budget = createMemoryBudget(100)
  await budget.take(60, never)
  const giving = new AbortController()
  const large = ask(budget, 80, giving.signal)
  const small = ask(budget, 40)
  await settle()
  assert.deepEqual([large.asked.kind, small.asked.kind], ['waiting', 'waiting'])
  giving.abort()
  assert.deepEqual(await large.answer, { kind: 'stopped' })
  assert.equal((await small.answer).kind, 'granted')
  assert.equal(budget.usage().takenBytes, 100)
  assert.deepEqual(await budget.take(1, AbortSignal.abort()), { kind: 'stopped' })
})

test('an abort after the grant takes nothing back', async () => {
  const budget = createMemoryBudget(100)
  const stopping = new AbortController()
  const room = await budget.take(100, stopping.signal)
  stopping.abort()
  assert.equal(room.kind, 'granted')
  assert.equal(budget.usage().takenBytes, 100)
})

test('tools get 60 % of the machine, or of the limit of this process', () => {
  assert.equal(memoryForTools(1_000, 0), 600)
  assert.equal(memoryForTools(1_000, 500), 300)
  assert.equal(memoryForTools(1_000, 2 ** 63), 600)
})
