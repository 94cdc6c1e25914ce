import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import { freePort } from '@toolyard/testkit/free-port'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { isUnavailable } from './is-unavailable.ts'
import type { Pool, PoolOptions, Sql } from './pool.ts'
import { createPool } from './pool.ts'
import { transaction } from './transaction.ts'

const database = await emptyDatabase()
const proxy = await stallableProxy(database.url)
const ask = (sql: Sql) => sql.query('select 1')

function openPool(t: TestContext, options: Partial<PoolOptions> = {}): Pool {
  const pool = createPool({
    url: proxy.url,
    max: 1,
    applicationName: 'unavailable-test',
    onIdleError: () => {},
    ...options,
  })
  t.after(() => pool.ended || pool.end())
  t.after(() => proxy.mend())
  return pool
}

async function failureOf(work: () => unknown): Promise<Error> {
  try {
    await work()
  } catch (error) {
    assert.ok(error instanceof Error)
    return error
  }
  throw new assert.AssertionError({ message: 'did not fail' })
}

async function assertUnavailable(work: () => unknown, message: RegExp): Promise<void> {
  const error = await failureOf(work)
  assert.match(`${error.message} ${String(Reflect.get(error, 'code'))}`, message)
  assert.ok(isUnavailable(error), String(error))
  assert.ok(
    isUnavailable(new Error('the verb failed', { cause: error })),
    'also as the cause of another error',
  )
}

async function assertOther(work: () => unknown, message: RegExp): Promise<void> {
  const error = await failureOf(work)
  assert.match(`${error.message} ${String(Reflect.get(error, 'code'))}`, message)
  assert.equal(isUnavailable(error), false, String(error))
}

test('a server that is not there, on every way it can be absent', async (t) => {
  const closed = `postgres://127.0.0.1:${await freePort()}/d`
  await assertUnavailable(() => ask(openPool(t, { url: closed })), /ECONNREFUSED/)
  await assertUnavailable(
    () => ask(openPool(t, { url: 'postgres://toolyard.invalid/d' })),
    /ENOTFOUND|EAI_AGAIN/,
  )
  await assertUnavailable(() => ask(openPool(t, { url: 'postgres:///d?host=/nonexistent' })), /ENOENT/)
  await assertUnavailable(() => transaction(openPool(t, { url: closed }), ask), /ECONNREFUSED/)
})

test('a connection that is cut before, in and between statements', async (t) => {
  const pool = openPool(t)
  const sleeping = failureOf(() =>
    transaction(pool, (sql) => (proxy.cut(), sql.query('select pg_sleep(60)'))),
  )
  assert.ok(isUnavailable(await sleeping))
  await assertUnavailable(() => ask(pool), /ECONNRESET|terminated unexpectedly/)
  proxy.mend()
  const client = await pool.connect()
  const ended = new Promise((resolve) => client.once('end', resolve))
  proxy.cut()
  await ended
  await assertUnavailable(() => client.query('select 1'), /not queryable/)
  client.release()
})

test('an answer that does not come, a pool that is full and one that has ended', async (t) => {
  const pool = openPool(t, { answerTimeoutMs: 200 })
  await ask(pool)
  proxy.stall()
  await assertUnavailable(() => ask(pool), /Query read timeout/)
  const full = openPool(t, { url: database.url })
  const client = await full.connect()
  await Promise.all([
    assertUnavailable(() => ask(pool), /terminated due to connection timeout|timeout expired/),
    assertUnavailable(() => ask(full), /timeout exceeded when trying to connect/),
  ])
  client.release()
  await full.end()
  await assertUnavailable(() => ask(full), /after calling end/)
})

test('a server that ends the connection, or the statement', async (t) => {
  const pool = openPool(t, { url: database.url, statementTimeoutMs: 100 })
  await assertUnavailable(
    () => pool.query('select pg_terminate_backend(pg_backend_pid())'),
    /57P01|terminated/,
  )
  await assertUnavailable(() => pool.query('select pg_sleep(60)'), /57014/)
})

test('a statement that the server refuses, or that cannot be sent, is no outage', async (t) => {
  const pool = openPool(t, { url: database.url })
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  await assertOther(() => pool.query('select 1/0'), /22012/)
  await assertOther(() => pool.query('select * from nowhere'), /42P01/)
  await assertOther(() => pool.query('select $1::jsonb', [circle]), /circular/)
})

test('the same codes of a file, another server and an HTTP call are none of the database', async () => {
  const port = await freePort()
  await assertOther(() => readFileSync('/nonexistent'), /ENOENT/)
  await assertOther(
    () => new Promise((_resolve, reject) => connect(port, '127.0.0.1').once('error', reject)),
    /ECONNREFUSED/,
  )
  await assertOther(() => fetch(`http://127.0.0.1:${port}`), /fetch failed/)
  const other = await stallableProxy(`redis://127.0.0.1:${port}`)
  other.cut()
  await assertOther(
    () =>
      new Promise((_resolve, reject) => {
        const socket = connect(Number(new URL(other.url).port), '127.0.0.1')
        socket.once('error', reject).on('connect', () => socket.write('PING\r\n'))
      }),
    /ECONNRESET|EPIPE/,
  )
})
