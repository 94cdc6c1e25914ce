import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { countArrival, rateAt } from './arrival-rate.ts'
import type { PoolState, StockState } from './plan-stock.ts'
import { defaultStockLimits, planStock, wantedCount } from './plan-stock.ts'

const limits = defaultStockLimits
const pool: PoolState = {
  key: 'a',
  minimum: 0,
  ratePerSecond: 0,
  startMs: 500,
  readySince: [],
  launching: 0,
  waiting: 0,
  pausedUntil: 0,
}
const now = 10_000_000
const called = { lastCallAt: now - 1_000 }
const state = (...pools: Partial<PoolState>[]): StockState => ({
  now,
  pools: pools.map((change, i) => Object.assign({}, pool, { key: String.fromCharCode(97 + i) }, change)),
  kept: [],
  isCrowded: false,
})

test('nothing is kept for a tool that was never called, one for ten minutes after a call', () => {
  assert.equal(wantedCount(pool, now, 32), 0)
  assert.equal(wantedCount({ ...pool, lastCallAt: now - 599_000 }, now, 32), 1)
  assert.equal(wantedCount({ ...pool, lastCallAt: now - 601_000 }, now, 32), 0)
  assert.equal(wantedCount({ ...pool, minimum: 3 }, now, 32), 3)
})

test('the stock grows with the calls that come while a replacement starts, up to its maximum', () => {
  const wanted = (ratePerSecond: number, startMs: number) =>
    wantedCount({ ...pool, ...called, ratePerSecond, startMs }, now, 32)
  assert.equal(wanted(2, 500), 3)
  assert.equal(wanted(2, 5_000), 17)
  assert.equal(wanted(10, 500), 10)
  assert.equal(wanted(1_000, 500), 32)
})

test('callers who wait come before stock, eight at a time and each tool in its turn', () => {
  const plan = planStock(state({ waiting: 20, ...called }, { waiting: 2, ...called }), limits)
  assert.deepEqual(plan.launch, ['a', 'b', 'a', 'b', 'a', 'a', 'a', 'a'])
  const served = planStock(state({ waiting: 2, launching: 2, ...called }), limits)
  assert.deepEqual(served.launch, [])
})

test('at most two are started ahead, the emptiest pool first', () => {
  const busy = { ...called, ratePerSecond: 10 }
  assert.deepEqual(planStock(state(busy), limits).launch, ['a', 'a'])
  assert.deepEqual(planStock(state({ ...busy, launching: 1 }), limits).launch, ['a'])
  assert.deepEqual(planStock(state({ ...busy, launching: 2 }), limits).launch, [])
  assert.deepEqual(planStock(state({ ...busy, readySince: [now] }, called), limits).launch, ['b', 'a'])
})

test('nothing is started ahead while work waits for a core, after a failure, or while a caller waits', () => {
  assert.deepEqual(planStock({ ...state(called), isCrowded: true }, limits).launch, [])
  assert.deepEqual(planStock(state({ ...called, pausedUntil: now + 1 }), limits).launch, [])
  assert.deepEqual(planStock(state(called, { waiting: 1, launching: 1, ...called }), limits).launch, [])
})

test('surplus leaves after half a minute, what is not wanted at all leaves at once', () => {
  const old = now - 31_000
  const retire = (change: Partial<PoolState>) => planStock(state(change), limits).retire
  assert.deepEqual(retire({ ...called, readySince: [old, old, now] }), [{ key: 'a', count: 2 }])
  assert.deepEqual(retire({ ...called, readySince: [now, now] }), [])
  assert.deepEqual(retire({ readySince: [now, now] }), [{ key: 'a', count: 2 }])
})

test('a full memory takes from the least used, and every tool has one before any has two', () => {
  const small = { ...limits, memoryBytes: 3 * 16_777_216 }
  const ready = { ...called, readySince: [now - 1] }
  const three = planStock(
    state({ ...ready, ratePerSecond: 1 }, { ...ready, ratePerSecond: 9 }, { ...ready, ratePerSecond: 5 }),
    small,
  )
  assert.deepEqual(three, { launch: [], retire: [], retireKept: [] })
  const four = planStock(
    state(
      { ...ready, ratePerSecond: 1 },
      { ...ready, ratePerSecond: 9 },
      { ...ready, ratePerSecond: 5 },
      { ...called, ratePerSecond: 2 },
    ),
    small,
  )
  assert.deepEqual(four.retire, [{ key: 'a', count: 1 }])
})

test('kept sandboxes leave after a minute of rest, the longest unused first where memory is short', () => {
  const kept = [
    { id: 'new', idleSince: now - 1 },
    { id: 'old', idleSince: now - 61_000 },
    { id: 'middle', idleSince: now - 1_000 },
  ]
  assert.deepEqual(planStock({ ...state(), kept }, limits).retireKept, ['old'])
  const small = { ...limits, memoryBytes: 2 * 16_777_216 }
  const full = planStock({ ...state({ ...called, readySince: [now] }), kept }, small)
  assert.deepEqual(full.retireKept, ['old', 'middle'])
})

test('no plan ever starts beyond its limits or retires what is not there', () => {
  for (let round = 0; round < 2_000; round++) {
    const random = state(...Array.from({ length: randomInt(0, 6) }, randomPool))
    const small = { ...limits, memoryBytes: randomInt(0, 20) * 16_777_216 }
    const plan = planStock({ ...random, isCrowded: randomInt(4) === 0 }, small)
    const launching = random.pools.reduce((sum, each) => sum + each.launching, 0)
    const waiting = random.pools.reduce((sum, each) => sum + Math.max(0, each.waiting - each.launching), 0)
    const ceiling = waiting > 0 ? limits.launchesMax : limits.refillsMax
    assert.ok(plan.launch.length === 0 || plan.launch.length + launching <= ceiling)
    for (const { key, count } of plan.retire) {
      const ready = random.pools.find((each) => each.key === key)?.readySince.length ?? 0
      assert.ok(count > 0 && count <= ready)
    }
  }
})

test('the rate of regular calls is their rate, and fades when they stop', () => {
  let rate = { perSecond: 0, at: 0 }
  for (let at = 0; at <= 300_000; at += 500) rate = countArrival(rate, at)
  assert.ok(Math.abs(rate.perSecond - 2) < 0.1, String(rate.perSecond))
  assert.ok(rateAt(rate, 300_000 + 90_000) < 0.11)
})

function randomPool(): Partial<PoolState> {
  const ready = randomInt(0, 6)
  return {
    minimum: randomInt(0, 3),
    ratePerSecond: randomInt(0, 20),
    ...(randomInt(3) === 0 ? {} : { lastCallAt: now - randomInt(0, 700_000) }),
    startMs: randomInt(1, 5_000),
    readySince: Array.from({ length: ready }, () => now - randomInt(0, 60_000)).sort((a, b) => a - b),
    launching: randomInt(0, 5),
    waiting: randomInt(0, 4),
    pausedUntil: now + randomInt(-1_000, 1_000),
  }
}
