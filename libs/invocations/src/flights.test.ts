import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createFlights } from './flights.ts'

type Item = { lane: string; value: number }

function openFlights({
  waitingMax = 1_000,
  ...limits
}: { flightsMax?: number; itemsMax?: number; waitingMax?: number } = {}) {
  const sent: { items: Item[]; land: (error?: Error) => void }[] = []
  const join = createFlights<Item, number>({
    laneOf: ({ lane }) => lane,
    send: (items) =>
      new Promise((resolve, reject) => {
        const land = (error?: Error) =>
          error === undefined ? resolve(items.map(({ value }) => value * 10)) : reject(error)
        sent.push({ items: [...items], land })
      }),
    isItemFault: (error) => error instanceof RangeError,
    flightsMax: 2,
    itemsMax: 100,
    waiting: { max: waitingMax, onFull: () => new Error('full') },
    ...limits,
  })
  const values = () => sent.map(({ items }) => items.map(({ value }) => value))
  return { join: (lane: string, value: number) => join({ lane, value }), sent, values }
}

test('what comes in one turn flies together, what comes meanwhile flies next, and each gets its own answer', async () => {
  const { join, sent, values } = openFlights()
  const first = [join('a', 1), join('b', 2)]
  await nextTurn()
  const second = [join('a', 3), join('a', 4)]
  await nextTurn()
  assert.deepEqual(values(), [[1, 2]])
  sent[0]?.land()
  assert.deepEqual(await Promise.all(first), [10, 20])
  await nextTurn()
  assert.deepEqual(values(), [
    [1, 2],
    [3, 4],
  ])
  sent[1]?.land()
  assert.deepEqual(await Promise.all(second), [30, 40])
})

test('a flight that is stuck delays its own lanes only', async () => {
  const { join, sent, values } = openFlights()
  const stuck = join('a', 1)
  await nextTurn()
  const waiting = join('a', 2)
  const free = join('b', 3)
  await nextTurn()
  assert.deepEqual(values(), [[1], [3]])
  sent[1]?.land()
  assert.equal(await free, 30)
  sent[0]?.land()
  assert.equal(await stuck, 10)
  await nextTurn()
  sent[2]?.land()
  assert.equal(await waiting, 20)
})

test('no more fly than may, in flights that are no larger than they may be; too many are refused', async () => {
  const { join, sent, values } = openFlights({ flightsMax: 1, itemsMax: 2, waitingMax: 3 })
  const waits = [join('a', 1), join('b', 2), join('c', 3)]
  await assert.rejects(join('d', 4), /full/)
  await nextTurn()
  assert.deepEqual(values(), [[1, 2]])
  sent[0]?.land()
  await Promise.all(waits.slice(0, 2))
  await nextTurn()
  assert.deepEqual(values(), [[1, 2], [3]])
  sent[1]?.land()
  await waits[2]
})

test('a fault of one item is found by trying each alone; any other fails all that were on board', async () => {
  const { join, sent, values } = openFlights()
  const waits = [join('a', 1), join('a', 2)]
  await nextTurn()
  sent[0]?.land(new RangeError('one of them'))
  await nextTurn()
  sent[1]?.land(new RangeError('this one'))
  await assert.rejects(waits[0] ?? Promise.resolve(), /this one/)
  await nextTurn()
  sent[2]?.land()
  assert.equal(await waits[1], 20)
  assert.deepEqual(values(), [[1, 2], [1], [2]])

  const others = [join('a', 3), join('a', 4)]
  await nextTurn()
  sent[3]?.land(new Error('the database is away'))
  const results = await Promise.allSettled(others)
  assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(['rejected']))
})
