import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import { runMixed } from './mixed-runs.ts'

test('60 fresh and 1,000 reused runs of every ending leave nothing, and the worker as it was', async (t) => {
  const report = await runMixed({ dockerHost: testDockerHost(), fresh: 60, reused: 1_000, concurrency: 4 })
  t.diagnostic(JSON.stringify(report))
  assert.deepEqual(report.wrong, [])
  assert.equal(
    Object.values(report.endings).reduce((sum, count) => sum + count, 0),
    1_060,
  )
  for (const kind of ['exited', 'timed_out', 'cancelled', 'output_too_large'])
    assert.ok((report.endings[kind] ?? 0) >= 10, JSON.stringify(report.endings))
  assert.deepEqual(report.left, { containers: 0, zombies: 0, volumes: 0 })
  const { atQuarter, atEnd } = report.heldBytes
  assert.ok(atEnd - atQuarter < 4 * 1_048_576, `${atQuarter} bytes became ${atEnd}`)
})
