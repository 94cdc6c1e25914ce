import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { separatePool } from '../fixtures/verifiers.ts'
import { queryWithin } from './query-within.ts'

const { pool, url } = await testDatabase()

test('a statement that takes too long is given up, and its connection with it', async () => {
  const own = separatePool(url)
  await assert.rejects(
    queryWithin(own, { text: 'select pg_sleep(20)', limitMs: 50 }),
    /did not answer within 50 ms/,
  )
  await waitUntil('the connection is gone', () => own.totalCount === 0)
  assert.deepEqual(await queryWithin(own, { text: 'select $1::integer as n', values: [7], limitMs: 2_000 }), [
    { n: 7 },
  ])
})

test('a pool with no connection to spare does not hold the caller, and gets the late connection back', async () => {
  const own = separatePool(url)
  const held = await Promise.all(Array.from({ length: 10 }, () => own.connect()))
  await assert.rejects(queryWithin(own, { text: 'select 1', limitMs: 50 }), /did not answer within/)
  for (const client of held) client.release()
  await waitUntil('all connections are idle', () => own.idleCount === 10 && own.waitingCount === 0)
})

test('a connection that is cut in the middle of a statement fails the statement and nothing else', async () => {
  const proxy = await stallableProxy(url)
  const own = separatePool(proxy.url)
  await own.query('select 1')
  const running = queryWithin(own, { text: 'select pg_sleep(21)', limitMs: 10_000 })
  await waitUntil('the statement runs', async () => {
    const seen = await pool.query(
      "select 1 from pg_stat_activity where query = 'select pg_sleep(21)' and state = 'active'",
    )
    return seen.rowCount === 1
  })
  proxy.cut()
  await assert.rejects(running, /ECONNRESET|terminated unexpectedly/)
  proxy.mend()
  assert.deepEqual(await queryWithin(own, { text: 'select 1 as n', limitMs: 2_000 }), [{ n: 1 }])
})
