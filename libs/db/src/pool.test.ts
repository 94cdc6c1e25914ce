import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { Pool, PoolOptions } from './pool.ts'
import { createPool } from './pool.ts'

const database = await emptyDatabase()
const proxy = await stallableProxy(database.url)

function openPool(t: TestContext, options: Partial<PoolOptions> = {}): { pool: Pool; idleErrors: Error[] } {
  const idleErrors: Error[] = []
  const pool = createPool({
    url: proxy.url,
    max: 1,
    applicationName: 'pool-test',
    onIdleError: (error) => idleErrors.push(error),
    ...options,
  })
  t.after(() => pool.end())
  t.after(() => proxy.mend())
  return { pool, idleErrors }
}

async function backendOf(pool: Pool): Promise<number | undefined> {
  const found = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  return found.rows[0]?.pid
}

test('a statement that is never answered is given up, and its connection is not used again', async (t) => {
  const { pool } = openPool(t, { answerTimeoutMs: 500 })
  const before = await backendOf(pool)
  proxy.stall()
  await assert.rejects(pool.query('select 1'), /timeout/)
  assert.equal(pool.totalCount, 0)
  proxy.mend()
  assert.notEqual(await backendOf(pool), before)
})

test('who waits for a connection is refused in the end: of a server that does not greet, of a pool that is full', async (t) => {
  const { pool: ungreeted } = openPool(t)
  const { pool: full } = openPool(t, { url: database.url })
  const client = await full.connect()
  proxy.stall()
  await Promise.all([
    assert.rejects(ungreeted.query('select 1'), /terminated due to connection timeout/),
    assert.rejects(full.query('select 1'), /timeout exceeded when trying to connect/),
  ])
  proxy.mend()
  client.release()
  assert.ok(await backendOf(ungreeted))
  assert.ok(await backendOf(full))
})

test('a statement that works too long is ended by the server, and the connection goes on', async (t) => {
  const { pool } = openPool(t, { statementTimeoutMs: 100 })
  const client = await pool.connect()
  await assert.rejects(client.query('select pg_sleep(60)'), { code: '57014' })
  await client.query('select 1')
  client.release()
  assert.equal(pool.idleCount, 1)
})

test('a statement has 30 s, an idle transaction too', async (t) => {
  const { pool } = openPool(t)
  const shown = await pool.query(
    "select name, setting from pg_settings where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name",
  )
  assert.deepEqual(shown.rows, [
    { name: 'idle_in_transaction_session_timeout', setting: '30000' },
    { name: 'statement_timeout', setting: '30000' },
  ])
})

test('an idle connection that breaks is reported and replaced', async (t) => {
  const { pool, idleErrors } = openPool(t)
  await pool.query('select 1')
  proxy.cut()
  await waitUntil('the break to be reported', () => idleErrors.length === 1)
  proxy.mend()
  assert.ok(await backendOf(pool))
})

test('a connection that breaks while somebody holds it does not end the process', async (t) => {
  const { pool, idleErrors } = openPool(t)
  const client = await pool.connect()
  const ended = new Promise((resolve) => client.once('end', resolve))
  proxy.cut()
  await ended
  await assert.rejects(client.query('select 1'), /not queryable/)
  client.release()
  assert.equal(pool.totalCount, 0)
  assert.deepEqual(idleErrors, [])
  proxy.mend()
  assert.ok(await backendOf(pool))
})

test('a connection that is given back inside a transaction is not used again', async (t) => {
  const { pool } = openPool(t)
  const client = await pool.connect()
  await client.query('begin; create table strays (id integer)')
  client.release()
  const found = await pool.query("select to_regclass('strays') is null as gone")
  assert.deepEqual(found.rows, [{ gone: true }])
})

test('locks of a transaction that stands idle are free again', async (t) => {
  const { pool } = openPool(t, { statementTimeoutMs: 200 })
  await database.pool.query('create table locked (id integer)')
  const client = await pool.connect()
  await client.query('begin; lock table locked')
  await database.pool.query('insert into locked values (1)')
  await assert.rejects(client.query('commit'), /idle-in-transaction|not queryable|terminat/)
  client.release()
})
