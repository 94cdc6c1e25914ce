import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { testRedisUrl } from '@toolyard/testkit/environment'
import { freePort } from '@toolyard/testkit/free-port'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { Redis } from 'ioredis'
import type { Store } from './contract/store.ts'
import { addAtLast, delivery, openQueues } from './contract/store.ts'
import { testContract } from './contract/suite.ts'

// Exceptions: none. The connection that blocks bears the name BullMQ gives it, which begins with the key prefix.

async function makeStore(t: TestContext): Promise<Store> {
  const redisPrefix = `queue_test_${randomBytes(6).toString('hex')}`
  const admin = new Redis(testRedisUrl())
  const wipe = async () => {
    const keys = await admin.keys(`${redisPrefix}:*`)
    if (keys.length > 0) await admin.unlink(keys)
  }
  t.after(async () => {
    await wipe()
    admin.disconnect()
  })
  return {
    databaseUrl: '',
    redisUrl: testRedisUrl(),
    redisPrefix,
    wipe,
    async killConnections() {
      const clients = String(await admin.client('LIST')).split('\n')
      const ours = clients.filter(
        (line) => line.includes('name=queue-test') || line.includes(`name=${redisPrefix}:`),
      )
      for (const line of ours) await admin.client('KILL', 'ID', Number(/id=(\d+)/.exec(line)?.[1]))
      return ours.length
    },
  }
}

testContract(makeStore)

test('a Redis that goes away is told to callers in time, and heals by itself', async (t) => {
  const port = await freePort()
  const start = () => {
    const child = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'], {
      stdio: 'ignore',
    })
    t.after(() => child.kill('SIGKILL'))
    return child
  }
  const first = start()
  const redisUrl = `redis://127.0.0.1:${port}`
  const store = {
    databaseUrl: '',
    redisUrl,
    redisPrefix: 'own',
    wipe: async () => {},
    killConnections: async () => 0,
  }
  const { queues, errors } = openQueues(t, store, { answerMs: 1_000 })
  const handled: string[] = []
  const handler = async ({ deliveryId }: { deliveryId: string }) => {
    handled.push(deliveryId)
    return { done: true } as const
  }
  // Not there yet when the queues were made: the first calls wait for it.
  await waitUntil('Redis to start', () =>
    queues.ping().then(
      () => true,
      () => false,
    ),
  )
  await queues.consume('deliveries', handler, { concurrency: 1 })
  await queues.enqueue('deliveries', [delivery('before')])
  await waitUntil('the first job', () => handled.length === 1)

  first.kill('SIGKILL')
  await once(first, 'exit')
  const cut = performance.now()
  await assert.rejects(queues.enqueue('deliveries', [delivery('during')]), { reason: 'unreachable' })
  await assert.rejects(
    queues.consume('ticks', async () => ({ done: true }), { concurrency: 1 }),
    { reason: 'unreachable' },
  )
  assert.ok(performance.now() - cut < 4_000)
  assert.ok(errors.length > 0)

  start()
  await addAtLast(queues, 'after')
  await waitUntil('the consumer to work again', () => handled.includes('after'))
})

test('a consumer ends in its time, also when Redis has been away a moment ago', async (t) => {
  const proxy = await stallableProxy(testRedisUrl())
  const store = await makeStore(t)
  for (const awayMs of [0, 20, 60, 150]) {
    const { queues, errors } = openQueues(t, { ...store, redisUrl: proxy.url })
    const consumer = await queues.consume('deliveries', async () => ({ done: true }), { concurrency: 8 })
    proxy.cut()
    await waitUntil('the break', () => errors.length > 0)
    const back = setTimeout(() => proxy.mend(), awayMs)
    const ending = consumer.drain({ timeoutMs: 60_000 })
    assert.deepEqual(await ending, { abandoned: 0 })
    clearTimeout(back)
    proxy.mend()
  }
})
