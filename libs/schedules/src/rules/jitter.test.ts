import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jitterMs } from './jitter.ts'

const startMs = Date.parse('2026-01-01T00:00:00Z')
const ticks = Array.from({ length: 10_000 }, (_, index) => new Date(startMs + index * 60_000))

test('a tick has the same jitter in every process and every release', () => {
  assert.equal(jitterMs('weather', new Date('2026-03-29T01:00:00Z'), 300), 282_212)
})

test('jitter spreads evenly and stays below its limit', () => {
  const values = ticks.map((tick) => jitterMs('weather', tick, 60))
  assert.ok(values.every((value) => Number.isInteger(value) && value >= 0 && value < 60_000))
  const perTenth = Array.from(
    { length: 10 },
    (_, tenth) => values.filter((value) => Math.floor(value / 6_000) === tenth).length,
  )
  assert.ok(
    perTenth.every((count) => count > 850 && count < 1_150),
    perTenth.join(' '),
  )
})

test('the tools of one tick are spread as well', () => {
  const values = new Set(
    Array.from({ length: 1_000 }, (_, index) => jitterMs(`tool_${index}`, new Date(startMs), 3_600)),
  )
  assert.ok(values.size > 990)
})

test('no jitter is none', () => {
  assert.ok(ticks.slice(0, 100).every((tick) => jitterMs('weather', tick, 0) === 0))
})
