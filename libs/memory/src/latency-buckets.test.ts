import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bucketCount, bucketOf, countLatency, countMax, noLatency, percentileOf } from './latency-buckets.ts'

const count = (values: readonly number[]) => values.reduce(countLatency, noLatency)
// 2^(1/8), and what rounding may add
const errorMax = 2 ** 0.125 + 1e-9

test('a bucket holds a quarter of a doubling', () => {
  // 1 ms opens bucket 1; 2 ms is four buckets up; 1000 ms: log2 = 9.9658, x 4 = 39.86, so bucket 40
  assert.deepEqual([0, 0.99, 1, 1.18, 1.19, 2, 1_000].map(bucketOf), [0, 0, 1, 1, 2, 5, 40])
  assert.deepEqual([2 ** 20 - 1, 2 ** 20, 1e12, Infinity].map(bucketOf), [80, 81, 81, 81])
  assert.deepEqual([-5, Number.NaN].map(bucketOf), [0, 0])
  assert.equal(bucketCount, 82)
})

test('percentiles of a known set', () => {
  assert.equal(percentileOf(noLatency, 0.5), null)
  // 94 calls of 100 ms, 6 of 2 s: the 50th is of the first, the 95th of the second.
  // 100: log2 = 6.6439, bucket 27, middle 2^(26.5/4) = 98.70; 2000: log2 = 10.9658, bucket 44, middle 2^(43.5/4) = 1878.0
  const buckets = count([...Array.from({ length: 94 }, () => 100), ...Array.from({ length: 6 }, () => 2_000)])
  assert.equal(percentileOf(buckets, 0.5)?.toFixed(2), '98.70')
  assert.equal(percentileOf(buckets, 0.94)?.toFixed(2), '98.70')
  assert.equal(percentileOf(buckets, 0.95)?.toFixed(1), '1878.0')
})

test('a percentile is within 9.1 % of the true value', () => {
  const latency = fc.double({ min: 1, max: 2 ** 20, noNaN: true })
  fc.assert(
    fc.property(
      fc.array(latency, { minLength: 1, maxLength: 60 }),
      fc.constantFrom(0.01, 0.5, 0.95, 1),
      (values, share) => {
        const rank = Math.max(1, Math.ceil(share * values.length))
        const exact = values.toSorted((a, b) => a - b)[rank - 1] ?? Number.NaN
        const told = percentileOf(count(values), share) ?? Number.NaN
        assert.ok(told / exact <= errorMax && exact / told <= errorMax, `${told} for ${exact}`)
      },
    ),
  )
})

test('a full count stays full, and takes no outcome down with it', () => {
  const full = noLatency.map((_count, index) => (index === 27 ? countMax : 0))
  assert.deepEqual(countLatency(full, 100), full)
  assert.equal(countLatency(full, 2_000)[44], 1)
})
