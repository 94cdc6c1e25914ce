import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPool } from '@toolyard/db/pool'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { listProcesses } from './list-processes.ts'
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

test('leaving takes no longer than it is worth when the database is away', async () => {
  const { url } = await testDatabase()
  const proxy = await stallableProxy(url)
  const pool = createPool({ url: proxy.url, max: 1, applicationName: 'test', onIdleError: () => {} })
  const presence = announcePresence({
    pool,
    id: 'two',
    kind: 'worker',
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
