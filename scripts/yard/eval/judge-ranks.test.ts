import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeRanks, judgeRefusals, percentile } from './judge-ranks.ts'

test('figures of ranks, worked out by hand; what was not found counts as nothing', () => {
  assert.deepEqual(judgeRanks([0, 0, 1, 3, Infinity]), {
    queries: 5,
    top1: 40,
    top3: 60,
    top5: 80,
    mrr: (100 * (1 + 1 + 1 / 2 + 1 / 4)) / 5,
  })
  assert.equal(judgeRanks([]).top1, 0)
})

test('figures of refusals, worked out by hand', () => {
  const present = [0.1, 0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9, 0.9, 0.9]
  const absent = [0.1, 0.2, 0.45, 0.9]
  // Below 0.35 stand 2 of 4 without a tool and 1 of 10 with one; 90 % of the ten are kept from 0.5 on: 3 of 4 below.
  assert.deepEqual(judgeRefusals(present, absent, 0.35), {
    precision: (100 * 2) / 3,
    recall: 50,
    kept: 90,
    recallAtKeep90: 75,
  })
})

test('percentiles stand in the list', () => {
  assert.equal(percentile([3, 1, 2, 4], 0.5), 3)
  assert.equal(percentile([7], 0.95), 7)
})
