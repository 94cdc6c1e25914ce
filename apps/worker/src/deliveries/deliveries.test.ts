import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { createKey } from '@toolyard/access/create-key'
import { Secret } from '@toolyard/config/secret'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import { finish } from '@toolyard/invocations/finish'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { makeWorld, runningOne } from '@toolyard/invocations/fixtures/world'
import { createLogger } from '@toolyard/log/logger'
import { createMetrics } from '@toolyard/log/metrics'
import { recordOutcomes } from '@toolyard/memory/record-outcomes'
import { createQueues } from '@toolyard/queue/queues'
import { prepareQueueSchema } from '@toolyard/queue/schema'
import { testRedisUrl } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { openVault } from '@toolyard/vault/open-vault'
import { createSender } from '@toolyard/webhooks/create-sender'
import { createWebhook } from '@toolyard/webhooks/create-webhook'
import { answer, hang, startReceiver } from '@toolyard/webhooks/fixtures/receiver'
import { readGuardRules } from '@toolyard/webhooks/guard-rules'
import { relayDeliveries } from '@toolyard/webhooks/relay-deliveries'
import { withDeliveries } from '@toolyard/webhooks/with-deliveries'
import { serveDeliveries } from './serve-deliveries.ts'
import { workerConfig } from '../fixtures/worker-config.ts'

const secretKeys = new Secret(`k1:${randomBytes(32).toString('base64url')}`)

for (const backend of ['redis', 'postgres'] as const) {
  test(`what is told in the finish arrives, also when nobody was there to send it (queue in ${backend})`, async (t) => {
    const ground = await openGround(t, backend)
    const first = ground.startWorker(t)
    await ground.endOne()
    await waitUntil('the message', () => ground.receiver.arrivals.length === 1)
    await first.drain(AbortSignal.abort())
    // As after a SIGKILL between the finish and the delivery: the row is committed, and its job is there or is lost.
    const kept = await ground.endOne()
    await ground.wipeQueue()
    const lost = await ground.endOne({ isTold: false })
    ground.startWorker(t)
    assert.equal(await relayDeliveries(ground.pool, ground.queues), 2)
    await waitUntil('the others', () => ground.receiver.arrivals.length === 3)
    const told = ground.receiver.arrivals.map(({ body }) => String(JSON.parse(String(body)).data.id))
    assert.deepEqual(told.slice(1).toSorted(), [kept, lost].toSorted())
    await waitUntil('all to be noted', async () => {
      const { rows } = await ground.pool.query(
        "select count(*)::int from deliveries where status = 'delivered'",
      )
      return rows[0].count === 3
    })
    assert.equal(await relayDeliveries(ground.pool, ground.queues), 0)
  })

  test(`a receiver that is cut off while a worker drains is told again (queue in ${backend})`, async (t) => {
    const ground = await openGround(t, backend)
    const worker = ground.startWorker(t, { drainSeconds: 1 })
    ground.receiver.behave(hang)
    await ground.endOne()
    await waitUntil('the try', () => ground.receiver.arrivals.length === 1)
    await worker.drain(new AbortController().signal)
    ground.receiver.behave(answer(204))
    await ground.pool.query(
      "update deliveries set lease_until = now() - interval '1 second' where status = 'sending'",
    )
    ground.startWorker(t)
    assert.equal(await relayDeliveries(ground.pool, ground.queues), 1)
    await waitUntil('the next try', () => ground.receiver.arrivals.length === 2)
    const ids = ground.receiver.arrivals.map(({ headers }) => headers['webhook-id'])
    assert.equal(new Set(ids).size, 1)
  })
}

async function openGround(t: TestContext, backend: 'redis' | 'postgres') {
  const { database, pool, deps } = await makeWorld()
  if (backend === 'postgres') await prepareQueueSchema(pool)
  const receiver = await startReceiver(t)
  const rules = readGuardRules({ allowHttp: true, ports: [receiver.port], allow: ['127.0.0.1'] })
  const vault = await openVault({ pool, secretKeys, dataDir: 'nowhere' })
  const redisPrefix = `deliveries-${randomBytes(4).toString('hex')}`
  const open = (prefix: string) =>
    createQueues({
      databaseUrl: database.url,
      ...(backend === 'redis' ? { redisUrl: testRedisUrl() } : {}),
      redisPrefix: prefix,
      poolMax: 8,
      applicationName: 'toolyard-test',
      onError: () => {},
    })
  let prefix = redisPrefix
  let queues = open(prefix)
  t.after(() => queues.close())
  const log = createLogger({ service: 'worker', level: 'warn', destination: { write: () => {} } })
  const made = await createKey(
    pool,
    { actor: { kind: 'operator' } },
    { name: 'test', scopes: ['webhooks:manage', 'invocations:read'] },
  )
  const body = {
    description: '',
    tools: null,
    topics: null,
    enabled: true,
    events: ['invocation.finished' as const],
  }
  const url = `http://127.0.0.1:${receiver.port}/in`
  await createWebhook({ vault, rules }, { actor: { kind: 'key', key: made.key } }, { ...body, url })
  return {
    pool,
    receiver,
    get queues() {
      return queues
    },
    /** An invocation that ends; with `isTold` its jobs go out as well. */
    async endOne({ isTold = true } = {}): Promise<string> {
      const hold = await runningOne(deps)
      const afterCommit = createAfterCommit({
        pool,
        queues,
        onFailure: (error) => assert.fail(String(error)),
      })
      const silent = { run: () => {} }
      const within = withDeliveries(recordOutcomes)
      await finish({ pool, afterCommit: isTold ? afterCommit : silent }, { hold, outcome: success, within })
      await afterCommit.settle()
      return hold.id
    },
    async wipeQueue() {
      if (backend === 'postgres') {
        await pool.query('delete from bullmq.job')
        return
      }
      await queues.close()
      prefix = `${prefix}-wiped`
      queues = open(prefix)
    },
    startWorker(of: TestContext, { drainSeconds = 5 } = {}) {
      const own = open(prefix)
      const config = workerConfig({
        databaseUrl: database.url,
        redisPrefix: prefix,
        instance: 'test',
        drainSeconds,
      })
      const service = serveDeliveries(
        { config, log, metrics: createMetrics('worker'), queues: own },
        { vault: Promise.resolve(vault), sender: createSender({ rules }) },
      )
      let ended: Promise<void> | undefined
      const drain = (signal: AbortSignal) => (ended ??= service.drain(signal).then(() => own.close()))
      of.after(() => drain(AbortSignal.abort()))
      return { drain }
    },
  }
}
