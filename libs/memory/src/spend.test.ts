import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Budget, PaidCall } from './spend.ts'
import { nextUtcDay, noBudget, spend, spentOn } from './spend.ts'

const noon = Date.parse('2026-05-04T12:00:00Z')

/** A call that began and ended at these seconds after noon. */
const call = (began: number, ended: number, remaining: number | null, isSuccess = true): PaidCall => ({
  startedAt: new Date(noon + began * 1_000),
  finishedAt: new Date(noon + ended * 1_000),
  isSuccess,
  remaining,
})
const after = (calls: PaidCall[], budget: Budget = noBudget) => calls.reduce(spend, budget)

test('a tool that tells nothing costs 1 a call, also when it fails', () => {
  const budget = after([call(0, 1, null), call(2, 3, null, false), call(4, 5, null)])
  assert.deepEqual([budget.spent, budget.day, budget.remaining], [3, '2026-05-04', null])
})

test('a tool that tells what remains has spent what that fell by', () => {
  // The first number has nothing to be compared with: 100, then 97.5 (2.5), the same (0), then 90 (7.5)
  const budget = after([call(0, 1, 100), call(2, 3, 97.5), call(4, 5, 97.5), call(6, 7, 90)])
  assert.deepEqual([budget.spent, budget.remaining, budget.seenAt], [10, 90, new Date(noon + 7_000)])
})

test('a failure that tells nothing is told of by the next number; a success that tells nothing costs 1', () => {
  const told = after([call(0, 1, 100), call(2, 3, null, false), call(4, 5, 98)])
  assert.equal(told.spent, 2)
  assert.equal(after([call(6, 7, null)], told).spent, 3)
})

test('a budget that rises was refilled: nothing was spent, and the count goes on from there', () => {
  const budget = after([call(0, 1, 10), call(2, 3, 4), call(4, 5, 1_000), call(6, 7, 998)])
  assert.deepEqual([budget.spent, budget.remaining], [8, 998])
})

test('numbers that come late are no refill', () => {
  // All three began together. In the order in which they were told: 99, 98, 97.
  const budget = after([call(0, 1, 100), call(2, 5, 97), call(2, 6, 99), call(2, 7, 98), call(8, 9, 96)])
  assert.deepEqual([budget.spent, budget.remaining], [4, 96])
})

test('a number from before a refill does not undo it', () => {
  // The second call began before the third showed the refill, and tells the old account.
  const budget = after([call(0, 1, 5), call(2, 9, 4), call(3, 4, 1_000)].toSorted(byEnd))
  assert.deepEqual([budget.spent, budget.remaining], [0, 1_000])
  assert.deepEqual(after([call(10, 11, 997)], budget).spent, 3, 'what was left out is in the next number')
})

test('at midnight UTC the spend begins again, and a call that is written late stays with its day', () => {
  const midnight = 12 * 3_600
  const before = after([call(0, 1, null), call(2, 3, null)])
  const next = after([call(midnight - 1, midnight, null)], before)
  assert.deepEqual([next.spent, next.day], [1, '2026-05-05'])
  const late = after([call(midnight - 2, midnight - 1, null)], next)
  assert.deepEqual([late.spent, late.day], [1, '2026-05-05'])
  assert.equal(spentOn(before, new Date('2026-05-04T23:59:59.999Z')), 2)
  assert.equal(spentOn(before, new Date('2026-05-05T00:00:00Z')), 0)
  assert.equal(nextUtcDay(new Date('2026-12-31T23:59:59.999Z')).toISOString(), '2027-01-01T00:00:00.000Z')
  assert.equal(nextUtcDay(new Date('2026-05-05T00:00:00Z')).toISOString(), '2026-05-06T00:00:00.000Z')
})

test('what fell over midnight belongs to the day on which it is seen', () => {
  const midnight = 12 * 3_600
  const budget = after([call(0, 1, 100), call(2, 3, 95), call(midnight + 1, midnight + 2, 93)])
  assert.deepEqual([budget.spent, budget.day], [2, '2026-05-05'])
})

test('no number that a tool writes makes the row unwritable', () => {
  const remaining = fc.oneof(
    fc.double(),
    fc.constantFrom(1e308, -1e308, Number.MAX_VALUE, Infinity, -Infinity, Number.NaN, 0, -0),
  )
  const calls = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 100_000 }), fc.nat(100), fc.option(remaining), fc.boolean()),
  )
  fc.assert(
    fc.property(calls, (given) => {
      let budget = noBudget
      for (const [began, took, value, isSuccess] of given) {
        budget = spend(budget, call(began, began + took, value, isSuccess))
        assert.ok(Number.isFinite(budget.spent) && budget.spent >= 0 && budget.spent <= 1e15)
        assert.ok(budget.remaining === null || Number.isFinite(budget.remaining))
      }
    }),
  )
})

test('in whatever order calls that ran at once end, their account comes out the same', () => {
  // n calls begin together; each is told what remains after it; one call more begins after all have ended.
  fc.assert(
    fc.property(
      fc.array(fc.nat(50), { minLength: 1, maxLength: 20 }),
      fc.infiniteStream(fc.nat()),
      (costs, random) => {
        let remaining = 10_000
        const told = costs.map((cost) => (remaining -= cost))
        const order = told
          .map((value) => ({ value, key: random.next().value ?? 0 }))
          .toSorted((a, b) => a.key - b.key)
        const calls = order.map(({ value }, index) => call(2, 3 + index, value))
        const budget = after([call(0, 1, 10_000), ...calls, call(1_000, 1_001, remaining - 1)])
        assert.equal(budget.spent, 10_001 - remaining)
      },
    ),
  )
})

const byEnd = (a: PaidCall, b: PaidCall) => a.finishedAt.getTime() - b.finishedAt.getTime()
