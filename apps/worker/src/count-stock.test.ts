import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '@toolyard/log/metrics'
import { countStock } from './count-stock.ts'

test('hits and misses, waits, ages, starts and losses of the stock are counted', async () => {
  const metrics = createMetrics('worker')
  const count = countStock(metrics)
  count({ kind: 'started', tool: 'a', startMs: 180 })
  count({ kind: 'taken', tool: 'a', source: 'stock', waitMs: 0.4, ageMs: 2_000 })
  count({ kind: 'taken', tool: 'a', source: 'started', waitMs: 190, ageMs: 0 })
  count({ kind: 'retired', tool: 'a', reason: 'idle' })
  const { text } = await metrics.render()
  for (const line of [
    /^toolyard_sandbox_taken_total\{.*source="stock".*\} 1$/m,
    /^toolyard_sandbox_taken_total\{.*source="started".*\} 1$/m,
    /^toolyard_sandbox_wait_seconds_bucket\{.*le="0.0005".*source="stock".*\} 1$/m,
    /^toolyard_sandbox_age_seconds_sum\{.*\} 2$/m,
    /^toolyard_sandbox_start_seconds_sum\{.*\} 0.18$/m,
    /^toolyard_sandbox_retired_total\{.*reason="idle".*\} 1$/m,
  ])
    assert.match(text, line)
})
