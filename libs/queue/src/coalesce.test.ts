import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCoalescer } from './coalesce.ts'

function recorder(answer: (items: number[]) => Promise<void> = async () => {}) {
  const batches: number[][] = []
  const add = createCoalescer<number>({
    batchMax: 4,
    unansweredMax: 10,
    async addBatch(items) {
      batches.push(items)
      await answer(items)
    },
  })
  return { batches, add }
}

test('calls of one tick become one batch, the next tick another', async () => {
  const { batches, add } = recorder()
  await Promise.all([add([1]), add([2, 3])])
  await add([4])
  assert.deepEqual(batches, [[1, 2, 3], [4]])
})

test('a batch never exceeds its bound, and no call is split over two', async () => {
  const { batches, add } = recorder()
  await Promise.all([add([1, 2, 3]), add([4, 5]), add([6, 7]), add([8])])
  assert.deepEqual(batches, [[1, 2, 3], [4, 5, 6, 7], [8]])
  await assert.rejects(add([1, 2, 3, 4, 5]), /At most 4/)
})

test('a failing batch fails for all of its callers and for nobody else', async () => {
  const { add } = recorder(async (items) => {
    if (items.includes(1)) throw new Error('the store is down')
  })
  const settled = await Promise.allSettled([add([1]), add([2, 3, 4]), add([5])])
  assert.deepEqual(
    settled.map((one) => one.status),
    ['rejected', 'rejected', 'fulfilled'],
  )
})

test('while the store does not answer only so many items wait; the rest are refused until it does', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { add } = recorder(() => promise)
  const waiting = [add([1, 2, 3, 4]), add([5, 6, 7, 8]), add([9, 10])]
  await assert.rejects(add([11]), { reason: 'unreachable' })
  resolve()
  await Promise.all(waiting)
  await add([11])
})

test('nothing to add is no batch', async () => {
  const { batches, add } = recorder()
  await add([])
  assert.deepEqual(batches, [])
})
