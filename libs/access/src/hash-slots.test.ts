import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { createHashSlots } from './hash-slots.ts'

function gates() {
  const open: (() => void)[] = []
  let running = 0
  let peak = 0
  const work = async () => {
    peak = Math.max(peak, ++running)
    const gate = Promise.withResolvers<void>()
    open.push(gate.resolve)
    await gate.promise
    running -= 1
  }
  const openNext = async () => {
    const next = open.shift()
    assert.ok(next, 'something runs')
    next()
    await new Promise(setImmediate)
  }
  return { work, openNext, running: () => running, peak: () => peak }
}

const isBusy = (error: unknown) =>
  error instanceof AppError && error.code === 'rate_limited' && error.retryAfterSeconds === 1

test('no more than the limit runs, no more than the limit waits, the rest is refused at once', async () => {
  const slots = createHashSlots({ running: 2, waiting: 3 })
  const { work, openNext, peak } = gates()
  const accepted = Array.from({ length: 5 }, () => slots.runSoon(work))
  await assert.rejects(slots.runSoon(work), isBusy)
  await assert.rejects(slots.runNow(work), isBusy)
  for (let i = 0; i < 5; i++) await openNext()
  await Promise.all(accepted)
  assert.equal(peak(), 2)
})

test('a slot that comes free goes to who waits, not to who comes', async () => {
  const slots = createHashSlots({ running: 1, waiting: 1 })
  const { work, openNext, running } = gates()
  const first = slots.runNow(work)
  const waiter = slots.runSoon(work)
  await openNext()
  assert.equal(running(), 1)
  await assert.rejects(slots.runNow(work), isBusy)
  await openNext()
  await Promise.all([first, waiter])
  const after = slots.runNow(work)
  await openNext()
  await after
})

test('work that fails gives its slot back', async () => {
  const slots = createHashSlots({ running: 1, waiting: 1 })
  const fail = async () => {
    throw new Error('broken')
  }
  await assert.rejects(slots.runNow(fail), /broken/)
  await assert.rejects(slots.runSoon(fail), /broken/)
  assert.equal(await slots.runNow(async () => 'runs'), 'runs')
})
