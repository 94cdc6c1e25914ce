import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { createAttemptBudget } from './attempt-budget.ts'

function budgetAt(start: number, addressesMax?: number) {
  let nowMs = start
  const budget = createAttemptBudget({
    perMinute: 3,
    monotonicMs: () => nowMs,
    ...(addressesMax === undefined ? {} : { addressesMax }),
  })
  return { budget, pass: (ms: number) => (nowMs += ms) }
}

const spend = (times: number, work: () => void) => Array.from({ length: times }, work)

function retryAfter(work: () => void): number | undefined {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'rate_limited')
    return error.retryAfterSeconds
  }
  throw new Error('was not refused')
}

test('an address has its attempts of a minute, then is told when to come back', () => {
  const { budget, pass } = budgetAt(5_000)
  spend(3, () => budget.spend('192.0.2.1'))
  assert.equal(
    retryAfter(() => budget.spend('192.0.2.1')),
    60,
  )
  pass(59_001)
  assert.equal(
    retryAfter(() => budget.spend('192.0.2.1')),
    1,
  )
  pass(998)
  assert.equal(
    retryAfter(() => budget.spend('192.0.2.1')),
    1,
  )
  pass(1)
  spend(3, () => budget.spend('192.0.2.1'))
  assert.equal(
    retryAfter(() => budget.spend('192.0.2.1')),
    60,
  )
})

test('refused attempts do not prolong the wait', () => {
  const { budget, pass } = budgetAt(0)
  spend(3, () => budget.spend('192.0.2.1'))
  pass(30_000)
  spend(50, () => retryAfter(() => budget.spend('192.0.2.1')))
  pass(30_000)
  budget.spend('192.0.2.1')
})

test('one address does not use up the attempts of another, but all of a /64 are one', () => {
  const { budget } = budgetAt(0)
  spend(3, () => budget.spend('192.0.2.1'))
  budget.spend('192.0.2.2')
  for (const host of ['1', '2', '3']) budget.spend(`2001:db8::${host}`)
  assert.ok(retryAfter(() => budget.spend('2001:db8::4')))
  budget.spend('2001:db8:0:1::4')
})

test('a flood of addresses is forgotten before an address that keeps trying', () => {
  const { budget } = budgetAt(0, 100)
  spend(3, () => budget.spend('192.0.2.1'))
  for (let i = 0; i < 10_000; i++) {
    budget.spend(`10.0.${i >> 8}.${i & 255}`)
    if (i % 50 === 0) assert.ok(retryAfter(() => budget.spend('192.0.2.1')))
  }
  // Forgotten long ago, which shows that no more than the allowed number is remembered.
  spend(3, () => budget.spend('10.0.0.0'))
})
