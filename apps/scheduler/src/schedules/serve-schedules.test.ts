import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { createPool } from '@toolyard/db/pool'
import { createLogger } from '@toolyard/log/logger'
import { createMetrics } from '@toolyard/log/metrics'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import { createQueues } from '@toolyard/queue/queues'
import { prepareQueueSchema } from '@toolyard/queue/schema'
import { makeGround } from '@toolyard/schedules/fixtures/ground'
import { writeEnds } from '@toolyard/ends/write-ends'
import type { Tick } from '@toolyard/schedules/tick'
import { testRedisUrl } from '@toolyard/testkit/environment'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { serveSchedules } from './serve-schedules.ts'

const log = createLogger({ service: 'scheduler', level: 'error', destination: { write: () => {} } })
const everySecond = '* * * * * *'

async function openSite(t: TestContext, backend: 'postgres' | 'redis') {
  const ground = await makeGround()
  const { pool, database } = ground
  if (backend === 'postgres') await prepareQueueSchema(pool)
  const redisPrefix = `schedules-${randomBytes(4).toString('hex')}`
  const open = (databaseUrl = database.url) =>
    createQueues({
      databaseUrl,
      ...(backend === 'redis' ? { redisUrl: testRedisUrl() } : {}),
      redisPrefix,
      poolMax: 8,
      applicationName: 'toolyard-test',
      onError: () => {},
    })
  const queues = open()
  t.after(() => queues.close())
  return {
    ...ground,
    queues,
    changeCatalog: () => pool.query('update catalog_state set epoch = epoch + 1'),
    /** One process of its own. */
    start(url = database.url) {
      const own = open(url)
      const ownPool = createPool({ url, max: 5, applicationName: 'toolyard-test', onIdleError: () => {} })
      const metrics = createMetrics('scheduler')
      const afterCommit = createAfterCommit({ pool: ownPool, queues: own, onFailure: () => {} })
      const context = { pool: ownPool, queues: own, log, metrics, schemaFits: Promise.resolve() }
      const service = serveSchedules(context, { afterCommit, within: writeEnds(log) })
      const end = async () => {
        await service.drain({ timeoutMs: 5_000 })
        await afterCommit.settle()
        await own.close()
        await ownPool.end()
      }
      let ended: Promise<void> | undefined
      const stop = () => (ended ??= end())
      t.after(stop)
      return { stop, metrics }
    },
  }
}

for (const backend of ['postgres', 'redis'] as const) {
  test(`two schedulers, alarms that are lost and one who ends: each second has one tick (queue in ${backend})`, async (t) => {
    const site = await openSite(t, backend)
    await site.makeCron('pulse', { schedule: everySecond, overlap: 'allow' })
    const [first, second] = [site.start(), site.start()]
    const fired = async (count: number) =>
      waitUntil(`${count} ticks`, async () => (await site.ticks('pulse')).length >= count)
    await fired(2)
    await waitUntil('the alarm', async () => (await site.queues.listAlarms('ticks')).length === 1)
    await site.queues.removeAlarm('ticks', 'pulse')
    await fired(4)
    await first.stop()
    await fired(6)
    await second.stop()
    const ticks = await site.ticks('pulse')
    assertEachSecond(ticks)
    const { text } = await first.metrics.render([await second.metrics.share()])
    const counted = /toolyard_ticks_total\{[^}]*fate="fired"[^}]*\} (\d+)/.exec(text)?.[1]
    assert.equal(Number(counted), ticks.length)
  })

  test(`a new tool has its schedule and its alarm at once, one that is gone has none (queue in ${backend})`, async (t) => {
    const site = await openSite(t, backend)
    site.start()
    const alarms = async () => (await site.queues.listAlarms('ticks')).map(({ id, rule }) => ({ id, rule }))
    await site.makeCron('daily', { schedule: '@daily', timezone: 'Europe/Malta' })
    await site.makeCron('odd', { schedule: '*/45' })
    await site.changeCatalog()
    await waitUntil('both alarms', async () => (await alarms()).length === 2)
    assert.deepEqual(
      (await alarms()).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      [
        { id: 'daily', rule: { pattern: '0 0 * * *', timezone: 'Europe/Malta' } },
        { id: 'odd', rule: { everyMs: 2_700_000 } },
      ],
    )
    await site.makeCron('daily', { schedule: '30 6 * * *', version: 2 })
    await site.pool.query("update tools set removed_at = now() where name = 'odd'")
    await site.changeCatalog()
    await waitUntil('the alarm of the new version', async () => {
      const [one, ...others] = await alarms()
      return (
        others.length === 0 && one !== undefined && 'pattern' in one.rule && one.rule.pattern === '30 6 * * *'
      )
    })
  })
}

test('what was due while the database was away is caught up, each tick once', async (t) => {
  const site = await openSite(t, 'postgres')
  const proxy = await stallableProxy(site.database.url)
  await site.makeCron('pulse', { schedule: everySecond, overlap: 'allow' })
  const { stop } = site.start(proxy.url)
  const count = async () => (await site.ticks('pulse')).length
  await waitUntil('two ticks', async () => (await count()) >= 2)
  proxy.cut()
  const before = await count()
  const cutAtMs = Date.now()
  await waitUntil('three seconds of the clock', () => Date.now() > cutAtMs + 3_000)
  assert.ok((await count()) <= before + 1, 'nobody else fires them')
  proxy.mend()
  await waitUntil('what was missed', async () => (await count()) >= before + 5, 30_000)
  await stop()
  assertEachSecond(await site.ticks('pulse'))
})

function assertEachSecond(ticks: readonly Tick[]): void {
  const seconds = ticks.map(({ tickAt }) => tickAt.getTime() / 1_000)
  assert.deepEqual(
    seconds,
    seconds.map((_, index) => (seconds[0] ?? 0) + index),
  )
  assert.ok(ticks.every(({ fate, origin }) => fate === 'fired' && origin === 'schedule'))
  assert.equal(new Set(ticks.map(({ invocationId }) => invocationId)).size, ticks.length)
}
