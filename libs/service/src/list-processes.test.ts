import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPool } from '@toolyard/db/pool'
import { createMetrics } from '@toolyard/log/metrics'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { announceEveryMs, listMetrics, listProcesses } from './list-processes.ts'
import type { Part } from './part.ts'
import { announcePresence } from './presence.ts'
import { pruneProcesses } from './prune-processes.ts'

test('a process that stopped renewing its row is not listed, and forgotten after a day', async () => {
  const { pool } = await testDatabase()
  const insert = (id: string, age: string) =>
    pool.query(
      `insert into processes (id, kind, host, pid, ready, seen_at)
       values ($1, 'worker', 'h', 1, true, clock_timestamp() - $2::interval)`,
      [id, age],
    )
  await insert('alive', '1 second')
  await insert('silent', '16 seconds')
  await insert('old', '25 hours')
  assert.equal((await listProcesses(pool)).length, 1)
  assert.equal(await pruneProcesses(pool), 1)
  const left = await pool.query('select id from processes order by id')
  assert.deepEqual(left.rows, [{ id: 'alive' }, { id: 'silent' }])
})

test('a row says that its process is not ready while one of its parts is not', async () => {
  const { pool } = await testDatabase()
  const presence = announcePresence({
    pool,
    id: 'one',
    kind: 'worker',
    metrics: createMetrics('worker'),
    parts: () => ({ engine: { state: 'unreachable', detail: 'no engine' }, queue: { state: 'ready' } }),
    onFailure: (error) => assert.fail(String(error)),
  })
  await waitUntil('it is listed', async () => (await listProcesses(pool)).length === 1)
  const [row] = await listProcesses(pool)
  assert.equal(row?.ready, false)
  assert.deepEqual(row.parts['engine'], { state: 'unreachable', detail: 'no engine' })
  await presence.leave()
  assert.deepEqual(await listProcesses(pool), [])
})

test('what has become of a part is told at once, not with the next turn', async () => {
  const { pool } = await testDatabase()
  let tools: Part = { state: 'starting' }
  const presence = announcePresence({
    pool,
    id: 'three',
    kind: 'worker',
    metrics: createMetrics('worker'),
    parts: () => ({ tools }),
    onFailure: (error) => assert.fail(String(error)),
  })
  const isListed = async (ready: boolean) => (await listProcesses(pool))[0]?.ready === ready
  await waitUntil('it is listed', () => isListed(false))
  const changedAt = performance.now()
  tools = { state: 'ready' }
  await waitUntil('it is told to be ready', () => isListed(true))
  assert.ok(performance.now() - changedAt < announceEveryMs / 2)
  await presence.leave()
})

test('leaving takes no longer than it is worth when the database is away', async () => {
  const { url } = await testDatabase()
  const proxy = await stallableProxy(url)
  const pool = createPool({ url: proxy.url, max: 1, applicationName: 'test', onIdleError: () => {} })
  const presence = announcePresence({
    pool,
    id: 'two',
    kind: 'worker',
    metrics: createMetrics('worker'),
    parts: () => ({}),
    onFailure: () => {},
  })
  await waitUntil('it is listed', async () => (await listProcesses(pool)).length === 1)
  proxy.stall()
  const startedAt = performance.now()
  await presence.leave()
  assert.ok(performance.now() - startedAt < 4_000)
  proxy.cut()
  await pool.end()
})

test('what processes count is added up by whoever renders it', async () => {
  const { pool } = await testDatabase()
  const presences = [3, 4].map((amount, index) => {
    const metrics = createMetrics('worker')
    metrics.counter('runs_total', 'Runs', ['tool']).add({ tool: 'a' }, amount)
    metrics.histogram('run_seconds', 'How long', ['tool']).observe({ tool: 'a' }, 0.02)
    const id = `worker-${index}`
    return announcePresence({
      pool,
      id,
      kind: 'worker',
      parts: () => ({}),
      metrics,
      onFailure: (error) => assert.fail(String(error)),
    })
  })
  await waitUntil('both are listed', async () => (await listProcesses(pool)).length === 2)
  const api = createMetrics('api')
  const { text } = await api.render(await listMetrics(pool, 'api'))
  assert.match(text, /^toolyard_runs_total\{.*service="worker".*\} 7$/m)
  assert.match(text, /^toolyard_run_seconds_count\{.*\} 2$/m)
  assert.equal(text.match(/^# TYPE toolyard_runs_total /gm)?.length, 1)
  assert.deepEqual((await listMetrics(pool, 'worker-0')).length, 1)
  await Promise.all(presences.map((presence) => presence.leave()))
})
