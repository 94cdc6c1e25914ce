import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from '@toolyard/db/pool'
import { readsOf } from '@toolyard/testkit/plans'
import { rememberingPool } from '@toolyard/testkit/remembering-pool'
import { newCatalog, operator } from '../fixtures/new-catalog.ts'
import { someTool } from '../fixtures/some-tool.ts'
import { listVersions, versionsListedMax } from './list-versions.ts'
import { pruneVersions } from './prune-versions.ts'

const kept = 30
// Of calls that wait for as long as they may, and end after that.
const goneDays = kept + 38

const hashesOf = async (pool: Pool, tool: string) => {
  const found = await pool.query<{ hash: string }>(
    'select hash from tool_versions where tool = $1 order by hash',
    [tool],
  )
  return found.rows.map(({ hash }) => hash)
}

/** Versions `<tool>-old-1`, the oldest, and so on, each of which served for an hour and ended so many days ago. */
const addServed = (pool: Pool, tool: string, count: number, endedDays: number) =>
  pool.query(
    `insert into tool_versions (tool, hash, version, manifest, found_at, served_at)
     select $1, $1 || '-old-' || n, 'v', '{}', at, at from generate_series(1, $2::integer) as n,
       lateral (select now() - make_interval(days => $3::integer, hours => $2 - n + 1) as at) as began`,
    [tool, count, endedDays],
  )

const call = (pool: Pool, id: string, hashes: { submitted: string; pinned?: string }) =>
  pool.query(
    `insert into invocations (id, tool, topic, status, gate, priority, due_at, not_before, expires_at,
       submitted_hash, pinned_hash)
     values ($1, 'a', 't', 'queued', 'open', 5, now(), now(), now() + interval '1 hour', $2, $3)`,
    [id, hashes.submitted, hashes.pinned ?? null],
  )

test('versions that are listed no more go when the calls of their time have, and nothing before', async () => {
  const { pool, publish, build } = await newCatalog()
  await publish({ tools: [someTool('a', 'now')] })
  await build('a', 'now')
  await addServed(pool, 'a', versionsListedMax + 4, goneDays)
  // The newest of them gave way to what serves now only a moment ago.
  const listed = await listVersions(pool, operator.actor, 'a')
  assert.equal(await pruneVersions(pool, kept + 3), 0, 'calls of then are still kept')
  assert.equal(await pruneVersions(pool, kept), 5)
  assert.deepEqual(await listVersions(pool, operator.actor, 'a'), listed)
  assert.equal((await hashesOf(pool, 'a')).length, versionsListedMax)
  assert.equal(await pruneVersions(pool, kept), 0)
})

test('a version that served until lately is kept, however many came before and were never served', async () => {
  const { pool, publish, build } = await newCatalog()
  await publish({ tools: [someTool('a', 'now')] })
  await build('a', 'now')
  await addServed(pool, 'a', versionsListedMax + 1, 1)
  await pool.query(
    `insert into tool_versions (tool, hash, version, manifest, found_at)
     select 'a', 'failed-' || n, 'v', '{}', now() - make_interval(days => case when n > 3 then 200 else 1 end)
     from generate_series(1, 10) as n`,
  )
  assert.equal(await pruneVersions(pool, kept), 7)
  const left = await hashesOf(pool, 'a')
  assert.ok(left.includes('a-old-1'))
  assert.deepEqual(
    left.filter((hash) => hash.startsWith('failed')),
    ['failed-1', 'failed-2', 'failed-3'],
  )
})

test('what serves, is wanted, was refused, has an image or is pinned by a replay is kept, however old', async () => {
  const { pool, publish, build } = await newCatalog()
  await publish({ tools: [someTool('a', 'now')] })
  await build('a', 'now')
  await addServed(pool, 'a', versionsListedMax + 7, goneDays)
  await pool.query(
    "update tools set current_hash = 'a-old-1', wanted_hash = 'a-old-2', refused_hash = 'a-old-3' where name = 'a'",
  )
  await pool.query("insert into images (tool, hash, engine_id) values ('a', 'a-old-4', 'gone')")
  await call(pool, 'inv_1', { submitted: 'a-now', pinned: 'a-old-5' })
  await call(pool, 'inv_2', { submitted: 'a-now' })
  assert.equal(await pruneVersions(pool, kept), 3)
  const left = await hashesOf(pool, 'a')
  for (const n of [1, 2, 3, 4, 5]) assert.ok(left.includes(`a-old-${n}`), String(n))
  for (const n of [6, 7, 8]) assert.ok(!left.includes(`a-old-${n}`), String(n))
})

test('more than a batch goes in one turn, of each tool on its own, and calls are asked for by their pins alone', async () => {
  const { pool, publish } = await newCatalog()
  await publish({ tools: [someTool('a', '1'), someTool('b', '1')] })
  await addServed(pool, 'a', 600, 400)
  await addServed(pool, 'b', versionsListedMax, 400)
  await pool.query(
    `insert into invocations (id, tool, topic, status, final_status, gate, priority, due_at, not_before, expires_at,
       finished_at, submitted_hash)
     select 'inv_' || n, 'a', 't', 'succeeded', 'succeeded', 'closed', 5, now(), now(), now(), now(), 'a-1'
     from generate_series(1, 5000) as n`,
  )
  await pool.query('vacuum analyze')
  const remembering = rememberingPool(pool.options.connectionString ?? '')
  assert.equal(await pruneVersions(remembering.pool, kept), 550)
  assert.equal((await hashesOf(pool, 'b')).length, versionsListedMax + 1)
  const statements = remembering.take().filter(({ text }) => text.includes('pinned_hash'))
  assert.ok(statements.length >= 2)
  for (const statement of statements) {
    for (const [kind, reads] of Object.entries(await readsOf(pool, statement)))
      assert.deepEqual(
        [...reads].filter((read) => read.includes('invocations')),
        ['index invocations_by_pin'],
        kind,
      )
  }
})
