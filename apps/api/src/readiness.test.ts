import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '@toolyard/config/secret'
import type { Sql } from '@toolyard/db/pool'
import { testDatabase } from '@toolyard/testkit/database'
import { testRedisUrl } from '@toolyard/testkit/environment'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { testApi } from './fixtures/test-api.ts'
import type { ReadinessReport } from './readiness.ts'
import { createReadiness } from './readiness.ts'

const { pool, url: databaseUrl } = await testDatabase()
const queues = { ping: async () => {} }
const schemaFits = () => true

const announce = (kind: string, ready: boolean, parts: object = {}) =>
  pool.query(
    `insert into processes (id, kind, host, pid, ready, parts)
     values (gen_random_uuid(), $1, 'here', 1, $2, $3)`,
    [kind, ready, JSON.stringify(parts)],
  )

async function readyz(url: string): Promise<[status: number, report: ReadinessReport]> {
  const answer = await fetch(`${url}/readyz`)
  // safe because what is asked of it is asserted
  return [answer.status, (await answer.json()) as ReadinessReport]
}

const waitForReport = (url: string, what: string, fits: (report: ReadinessReport) => boolean) =>
  waitUntil(what, async () => {
    const [status, report] = await readyz(url)
    return fits(report) ? { status, report } : undefined
  })

test('each part is named, and without a worker calls are still taken', async () => {
  const { url } = await testApi({ databaseUrl })
  assert.deepEqual(await readyz(url), [
    200,
    {
      status: 'degraded',
      parts: {
        api: { state: 'ready' },
        database: { state: 'ready' },
        queue: { state: 'ready' },
        worker: { state: 'missing', detail: 'none has reported lately' },
        scheduler: { state: 'missing', detail: 'none has reported lately' },
      },
    },
  ])

  await announce('scheduler', true)
  await announce('worker', false, { engine: { state: 'unreachable', detail: 'ENOENT' } })
  const unfit = await waitForReport(
    url,
    'the unfit worker',
    ({ parts }) => parts['worker']?.state === 'unfit',
  )
  assert.equal(unfit.status, 200)
  assert.equal(unfit.report.status, 'degraded')
  assert.deepEqual(unfit.report.parts['engine'], { state: 'unreachable', detail: 'ENOENT' })

  await announce('worker', true, { engine: { state: 'ready' } })
  const ready = await waitForReport(url, 'all ready', ({ status }) => status === 'ready')
  assert.equal(ready.status, 200)
  assert.deepEqual(ready.report.parts['worker'], { state: 'ready', detail: '1 of 2' })
  assert.deepEqual(ready.report.parts['engine'], { state: 'ready' })
})

test('what other processes say does not replace what this one knows', async () => {
  await announce('worker', true, {
    database: { state: 'missing' },
    api: { state: 'missing' },
    queue: { state: 'missing' },
  })
  const { url } = await testApi({ databaseUrl })
  const [, { parts }] = await readyz(url)
  for (const name of ['api', 'database', 'queue']) assert.deepEqual(parts[name], { state: 'ready' })
})

test('until the schema fits, and without the database, calls cannot be taken', async () => {
  const fits = Promise.withResolvers<void>()
  const proxy = await stallableProxy(databaseUrl)
  const { url } = await testApi({ databaseUrl: proxy.url, schemaFits: fits.promise })
  const [starting, report] = await readyz(url)
  assert.equal(starting, 503)
  assert.deepEqual(report.parts['database'], { state: 'starting' })
  fits.resolve()
  await waitForReport(url, 'the schema fits', ({ parts }) => parts['database']?.state === 'ready')

  proxy.cut()
  const away = await waitForReport(url, 'the outage shows', ({ status }) => status === 'unavailable')
  assert.equal(away.status, 503)
  assert.equal(away.report.parts['database']?.state, 'unreachable')
  assert.doesNotMatch(JSON.stringify(away.report), /127\.0\.0\.1|postgres/)
  proxy.mend()
  await waitForReport(url, 'it heals', ({ parts }) => parts['database']?.state === 'ready')
})

test('without the queue calls are taken, and the queue is named', async () => {
  const proxy = await stallableProxy(testRedisUrl())
  const { url } = await testApi({ databaseUrl, redisUrl: new Secret(proxy.url) })
  await waitForReport(url, 'the queue is there', ({ parts }) => parts['queue']?.state === 'ready')
  proxy.cut()
  const away = await waitForReport(
    url,
    'the queue is gone',
    ({ parts }) => parts['queue']?.state === 'unreachable',
  )
  assert.equal(away.status, 200)
  assert.equal(away.report.status, 'degraded')
  proxy.mend()
  await waitForReport(url, 'it is back', ({ parts }) => parts['queue']?.state === 'ready')
})

test('a process that drains is not to be sent anything', async () => {
  const readiness = createReadiness({ sql: pool, queues, schemaFits })
  assert.notEqual((await readiness.report()).status, 'unavailable')
  readiness.drain()
  const { status, parts } = await readiness.report()
  assert.equal(status, 'unavailable')
  assert.deepEqual(parts['api'], { state: 'draining' })
})

test('however many ask, the database is asked twice a second at most', async () => {
  let asked = 0
  let nowMs = 0
  const sql: Sql = {
    query: (text, values) => {
      asked += 1
      return pool.query(text, values)
    },
  }
  const readiness = createReadiness({ sql, queues, schemaFits, monotonicMs: () => nowMs })
  for (let step = 0; step < 100; step++) {
    nowMs = step * 100
    await Promise.all(Array.from({ length: 50 }, () => readiness.report()))
  }
  assert.ok(asked >= 16 && asked <= 20, `asked ${asked} times in 10 s`)
})

test('a database that hangs is asked one question, and callers are told so in time', async () => {
  let asked = 0
  let nowMs = 0
  const silence = Promise.withResolvers<never>()
  const sql: Sql = {
    query: () => {
      asked += 1
      return silence.promise
    },
  }
  const readiness = createReadiness({ sql, queues, schemaFits, monotonicMs: () => nowMs, answerMs: 20 })
  for (let step = 0; step < 5; step++) {
    nowMs += 1_000
    const { status, parts } = await readiness.report()
    assert.equal(status, 'unavailable')
    assert.deepEqual(parts['database'], { state: 'unreachable', detail: 'no answer' })
  }
  assert.equal(asked, 1)
  silence.reject(new Error('cut'))
})
