import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChaos } from './fixtures/run-chaos.ts'

test('150 calls on Redis survive killed, stopped and cut off processes and restarted services with every promise kept', async (t) => {
  const { code, stderr, seeds, faults } = await runChaos(t, { queue: 'redis', seed: 18, invocations: 150 })
  t.diagnostic(JSON.stringify(seeds))
  assert.deepEqual(faults, [], stderr)
  assert.equal(code, 0, stderr)
  const [ran] = seeds
  assert.ok(ran !== undefined && seeds.length === 1)
  assert.deepEqual(ran.violations, [])
  assert.equal(ran.calls, 150)
  // A run in which nothing was lost and nothing ran again has proved nothing.
  assert.ok(ran.starts >= 100 && ran.effects >= 100 && ran.attempts > ran.calls, JSON.stringify(ran))
  assert.ok((ran.statuses['succeeded'] ?? 0) >= 75, JSON.stringify(ran.statuses))
})
