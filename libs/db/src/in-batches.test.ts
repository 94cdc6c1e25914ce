import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBatches } from './in-batches.ts'

/** So many rows, of which each call takes what it may; and what the calls were allowed. */
function store(rows: number) {
  const asked: number[] = []
  let left = rows
  const take = (rowsMax: number): Promise<number> => {
    asked.push(rowsMax)
    const taken = Math.min(left, rowsMax)
    left -= taken
    return Promise.resolve(taken)
  }
  return { asked, take, left: () => left }
}

test('batches follow each other until one is not full', async () => {
  const rows = store(25)
  assert.equal(await inBatches(10, rows.take), 25)
  assert.deepEqual(rows.asked, [10, 10, 10])
})

test('a last batch that is just full is followed by an empty one, and nothing at all by none', async () => {
  const rows = store(20)
  assert.equal(await inBatches(10, rows.take), 20)
  assert.equal(rows.asked.length, 3)
  assert.equal(await inBatches(10, rows.take), 0)
  assert.equal(rows.asked.length, 4)
})

test('a turn ends when its time is over, with at least one batch', async () => {
  const rows = store(100)
  assert.equal(await inBatches(10, rows.take, 0), 10)
  assert.equal(rows.left(), 90)
})

test('what fails ends the turn and is told', async () => {
  await assert.rejects(
    inBatches(10, () => Promise.reject(new Error('gone'))),
    /gone/,
  )
})
