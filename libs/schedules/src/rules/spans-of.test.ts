import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spansOf } from './spans-of.ts'

const day = 86_400_000
const hour = 3_600_000

/** A clock that is changed to the second value of each at the first. */
const clock = (changes: readonly [number, number][]) => (atMs: number) =>
  changes.findLast(([fromMs]) => fromMs <= atMs)?.[1] ?? 0

test('every change ends a span and begins the next', () => {
  const spans = spansOf(
    clock([
      [10 * day + 1_000, hour],
      [17 * day, -hour],
      [40 * day + 7 * hour, 0],
    ]),
    0,
    60 * day,
  )
  assert.deepEqual(
    spans.map(({ fromMs, toMs, offsetBeforeMs, offsetMs }) => [fromMs, toMs, offsetBeforeMs, offsetMs]),
    [
      [0, 10 * day + 1_000, 0, 0],
      [10 * day + 1_000, 17 * day, 0, hour],
      [17 * day, 40 * day + 7 * hour, hour, -hour],
      [40 * day + 7 * hour, 60 * day, -hour, 0],
    ],
  )
})

test('a change between two years is the beginning of the second', () => {
  const offsetAt = clock([[10 * day, hour]])
  assert.deepEqual(spansOf(offsetAt, 0, 10 * day), [
    { fromMs: 0, toMs: 10 * day, offsetMs: 0, offsetBeforeMs: 0 },
  ])
  assert.deepEqual(spansOf(offsetAt, 10 * day, 20 * day), [
    { fromMs: 10 * day, toMs: 20 * day, offsetMs: hour, offsetBeforeMs: 0 },
  ])
})

test('a change in the first and in the last second', () => {
  const offsetAt = clock([
    [1_000, hour],
    [10 * day - 1_000, 0],
  ])
  assert.deepEqual(
    spansOf(offsetAt, 0, 10 * day).map(({ fromMs }) => fromMs),
    [0, 1_000, 10 * day - 1_000],
  )
})
