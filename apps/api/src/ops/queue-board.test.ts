import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imagesQueue } from '@toolyard/queue/names'
import { Secret } from '@toolyard/config/secret'
import { prepareQueueSchema } from '@toolyard/queue/schema'
import { testDatabase } from '@toolyard/testkit/database'
import { testRedisUrl } from '@toolyard/testkit/environment'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { z } from 'zod'
import { refusalOf } from '../fixtures/answers.ts'
import { fromPageOf, sessionOf } from '../fixtures/browser.ts'
import { newManifest, buildTool, publishTools, testEngine } from '../fixtures/published-tools.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey } from '../fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()
await prepareQueueSchema(pool)
await publishTools(pool, [newManifest('built')])
await buildTool(pool, 'built')
const viewer = await makeKey(pool, { scopes: ['ops:view'] })
const operator = await makeKey(pool, { scopes: ['ops:view', 'tools:manage'] })
const images = imagesQueue(testEngine)
const backends = ['redis', 'postgres'] as const

const job = z.looseObject({ id: z.string(), data: z.record(z.string(), z.unknown()) })
const board = z.object({
  queues: z.array(
    z.looseObject({
      name: z.string(),
      readOnlyMode: z.boolean(),
      isPaused: z.boolean(),
      counts: z.record(z.string(), z.number()),
      jobs: z.array(job),
    }),
  ),
})

/** An api with a job in each of its queues, and how to ask it. */
async function filledApi(queueBackend: (typeof backends)[number]) {
  const api = await testApi({ databaseUrl, queueBackend })
  const { queues, url } = api
  await queues.enqueue('invocations', [{ id: 'inv_1-1', data: { invocationId: 'inv_1', attempt: 1 } }])
  await queues.enqueue('deliveries', [{ id: 'd_1', data: { deliveryId: 'd_1' }, delayMs: 600_000 }])
  await queues.enqueue('ticks', [{ id: 't_1', data: { tool: 'clock' } }])
  await queues.enqueue(images, [{ id: 'i_1', data: { imageHash: 'abc' } }])
  const call = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    fetch(`${url}/ops/queues/api${path}`, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const show = async (headers: Record<string, string>, queue = '') => {
    const answer = await call('GET', `/queues?activeQueue=${queue}&status=latest`, headers)
    assert.equal(answer.status, 200)
    return board.parse(await answer.json()).queues
  }
  const stateOf = async (queue: string) => {
    const found = (await show(bearer(operator.token), queue)).find(({ name }) => name === queue)
    assert(found)
    return found
  }
  return { ...api, call, show, stateOf }
}

const actions: [method: string, path: string, body?: unknown][] = [
  ['PUT', '/queues/pause'],
  ['PUT', '/queues/resume'],
  ['PUT', '/queues/invocations/pause'],
  ['PUT', '/queues/invocations/resume'],
  ['PUT', '/queues/invocations/empty'],
  ['PUT', '/queues/invocations/obliterate', { force: true }],
  ['PUT', '/queues/invocations/retry/failed'],
  ['PUT', '/queues/invocations/clean/wait'],
  ['PUT', '/queues/invocations/concurrency', { concurrency: 1 }],
  ['PUT', '/queues/invocations/rate-limit', { max: 1, duration: 1 }],
  ['PUT', '/queues/invocations/inv_1-1/clean'],
  ['PUT', '/queues/invocations/inv_1-1/retry'],
  ['PUT', '/queues/deliveries/d_1/promote'],
  ['PATCH', '/queues/invocations/inv_1-1/priority', { priority: 3 }],
  ['PATCH', '/queues/deliveries/d_1/delay', { runAt: 1 }],
  ['PUT', '/queues/ticks/job-schedulers/x/remove'],
  ['PUT', '/queues/ticks/job-schedulers/x/run'],
  ['PATCH', '/queues/ticks/job-schedulers/x', { every: 1_000 }],
]

for (const backend of backends) {
  test(`${backend}: a job of each queue is shown, by its ids alone`, async () => {
    const { show, call, url } = await filledApi(backend)
    const session = await sessionOf(url, viewer.token)
    const expected = { invocations: 'inv_1-1', deliveries: 'd_1', ticks: 't_1', [images]: 'i_1' }
    for (const headers of [session, bearer(viewer.token)]) {
      const names = (await show(headers)).map(({ name }) => name)
      assert.deepEqual(names.toSorted(), Object.keys(expected).toSorted())
    }
    for (const [queue, id] of Object.entries(expected)) {
      const shown = (await show(session, queue)).find(({ name }) => name === queue)
      assert.deepEqual(
        shown?.jobs.map((each) => each.id),
        [id],
        queue,
      )
      const [only] = shown.jobs
      assert.ok(Object.values(only?.data ?? {}).every((value) => ['string', 'number'].includes(typeof value)))
      for (const more of ['', '/logs', '/flow'])
        assert.equal(
          (await call('GET', `/queues/${queue}/${id}${more}`, session)).status,
          200,
          `${queue}${more}`,
        )
      for (const more of ['/workers', '/metrics', '/rate-limit', '/default-job-options', '/job-data-schema'])
        assert.equal((await call('GET', `/queues/${queue}${more}`, session)).status, 200, `${queue}${more}`)
    }
    const head = await call('HEAD', '/queues', session)
    assert.equal(head.status, 200)
    const acts = await pool.query(`select from audit where actor = $1 and action = 'queue.act'`, [
      `key:${viewer.id}`,
    ])
    assert.equal(acts.rowCount, 0)
    const stats = z.looseObject({ backend: z.string() })
    const answer = await call('GET', '/redis/stats', session)
    assert.equal(stats.parse(await answer.json()).backend, backend === 'redis' ? 'redis' : 'postgres')
    assert.equal((await call('GET', '/job-schedulers', session)).status, 200)
  })

  test(`${backend}: without tools:manage nothing can be changed, whatever the page offers`, async () => {
    const { call, show, stateOf, url } = await filledApi(backend)
    const session = { ...(await sessionOf(url, viewer.token)), ...fromPageOf(url) }
    const before = await Promise.all(['invocations', 'deliveries', 'ticks'].map(stateOf))
    for (const [method, path, body] of actions) {
      for (const headers of [session, bearer(viewer.token)])
        assert.equal(await refusalOf(await call(method, path, headers, body)), '403 missing_scope', path)
    }
    assert.deepEqual(await Promise.all(['invocations', 'deliveries', 'ticks'].map(stateOf)), before)
    assert.ok((await show(session)).every(({ readOnlyMode }) => readOnlyMode))
    for (const method of ['DELETE', 'POST', 'OPTIONS', 'PURGE'])
      assert.match(
        await refusalOf(await call(method, '/queues/invocations/inv_1-1/clean', session)),
        /^40[34] /,
      )
  })

  test(`${backend}: with tools:manage it can, from a page of ours, and the audit tells`, async () => {
    const { call, show, stateOf, url } = await filledApi(backend)
    const session = await sessionOf(url, operator.token)
    const ours = { ...session, ...fromPageOf(url) }
    for (const headers of [session, { ...session, origin: 'http://evil.example' }])
      assert.equal(await refusalOf(await call('PUT', '/queues/ticks/pause', headers)), '401 unauthenticated')
    assert.equal((await stateOf('ticks')).isPaused, false)
    assert.equal((await call('PUT', '/queues/ticks/pause', ours)).status, 200)
    assert.equal((await stateOf('ticks')).isPaused, true)
    assert.equal((await call('PUT', '/queues/ticks/resume', bearer(operator.token))).status, 200)
    assert.equal((await stateOf('ticks')).isPaused, false)
    assert.equal((await call('PUT', '/queues/deliveries/d_1/promote', ours)).status, 204)
    assert.equal((await stateOf('deliveries')).counts['delayed'], 0)
    assert.equal((await call('PUT', '/queues/invocations/inv_1-1/clean', ours)).status, 204)
    assert.deepEqual((await stateOf('invocations')).jobs, [])
    assert.ok((await show(ours)).every(({ readOnlyMode }) => !readOnlyMode))
    const audit = await pool.query<{ target: string; jobId: string }>(
      `select target, detail ->> 'jobId' as "jobId" from audit
       where action = 'queue.act' and actor = $1 order by id desc limit 2`,
      [`key:${operator.id}`],
    )
    assert.deepEqual(audit.rows, [
      { target: 'queue:invocations', jobId: 'inv_1-1' },
      { target: 'queue:deliveries', jobId: 'd_1' },
    ])
  })

  test(`${backend}: nobody can write what a job holds`, async () => {
    const { call, stateOf, url } = await filledApi(backend)
    const headers = { ...(await sessionOf(url, operator.token)), ...fromPageOf(url) }
    const before = await stateOf('invocations')
    for (const [method, path, body] of [
      ['POST', '/queues/invocations/add', { name: 'x', data: { secret: 's' }, options: {} }],
      ['PATCH', '/queues/invocations/inv_1-1/update-data', { jobData: { secret: 's' } }],
    ] as const)
      assert.equal(await refusalOf(await call(method, path, headers, body)), '404 not_found')
    assert.deepEqual(await stateOf('invocations'), before)
  })

  test(`${backend}: what cannot be read is refused as such`, async () => {
    const { call } = await filledApi(backend)
    const headers = bearer(operator.token)
    for (const path of ['/queues/invocations/%00', '/queues/%01/x', '/queues?activeQueue=%25'])
      assert.equal(await refusalOf(await call('GET', path, headers)), '400 malformed_request', path)
    assert.equal((await call('GET', '/queues/nothing/x', headers)).status, 404)
    assert.equal((await call('GET', '/queues/invocations/x', headers)).status, 404)
    assert.equal(
      (await call('GET', '/queues?activeQueue=invocations&jobsPerPage=100000', headers)).status,
      400,
    )
    assert.equal(
      await refusalOf(await call('PUT', '/queues/ticks/concurrency', headers, 'x')),
      '400 malformed_request',
    )
  })
}

test('a queue store that is away is told within seconds, and the page still opens', async () => {
  const proxy = await stallableProxy(testRedisUrl())
  const api = await testApi({ databaseUrl, redisUrl: new Secret(proxy.url) })
  const ask = (path: string) => fetch(`${api.url}/ops/queues${path}`, { headers: bearer(viewer.token) })
  assert.equal((await ask('/api/queues')).status, 200)
  proxy.stall()
  assert.equal(await refusalOf(await ask('/api/queues')), '503 store_unavailable')
  assert.equal((await ask('')).status, 200)
  proxy.mend()
  await waitUntil('it answers again', async () => (await ask('/api/queues')).status === 200)
})
