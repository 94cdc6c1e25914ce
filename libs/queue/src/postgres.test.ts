import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { Store } from './contract/store.ts'
import { delivery, openQueues } from './contract/store.ts'
import { testContract } from './contract/suite.ts'
import { prepareQueueSchema } from './schema.ts'

// Exceptions: none. What BullMQ does not do on Postgres (trimming events, reading waiting jobs in order) is not offered.

const database = await emptyDatabase()
const { pool } = database
const elsewhere = (await emptyDatabase()).pool
await prepareQueueSchema(pool)

const deadlockDetected = '40P01'

const store: Store = {
  databaseUrl: database.url,
  redisPrefix: 'unused',
  async wipe() {
    const tables = await pool.query<{ list: string }>(
      "select string_agg(format('bullmq.%I', tablename), ', ') as list from pg_tables where schemaname = 'bullmq' and tablename <> 'migration'",
    )
    // A consumer that looks for jobs locks the tables in another order; then one of the two is made to give way.
    const truncate = () =>
      pool.query(`truncate ${tables.rows[0]?.list ?? ''} restart identity`).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Error && 'code' in error && error.code === deadlockDetected) return false
          throw error
        },
      )
    await waitUntil('the tables to be free', truncate)
  },
  async killConnections() {
    // BullMQ names its listening connections after their queue, so they are told by what they are not.
    const killed = await pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'toolyard-test'",
    )
    return killed.rowCount ?? 0
  },
}

testContract(async () => {
  await store.wipe()
  return store
})

test('adds of one tick are one transaction where that costs less', async (t) => {
  await store.wipe()
  const { queues } = openQueues(t, store)
  const transactions = async () => {
    const found = await pool.query<{ count: number }>(
      'select count(distinct xmin::text)::int as count from bullmq.job',
    )
    return found.rows[0]?.count
  }
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => queues.enqueue('deliveries', [delivery(`one_${index}`)])),
  )
  assert.equal(await transactions(), 1)
  await queues.enqueue('deliveries', [delivery('two'), delivery('three')])
  assert.equal(await transactions(), 3)
})

test('nothing is written or told of what happens to a job: nobody reads it', async (t) => {
  await store.wipe()
  const { queues } = openQueues(t, store)
  const handled: string[] = []
  const handle = async ({ deliveryId }: { deliveryId: string }) => {
    handled.push(deliveryId)
    return { done: true } as const
  }
  await queues.consume('deliveries', handle, { concurrency: 1 })
  await queues.enqueue('deliveries', [delivery('one'), delivery('two')])
  await waitUntil('both to be handled', () => handled.length === 2)
  await waitUntil('both to be gone', async () => (await queues.counts('deliveries')).active === 0)
  assert.equal((await pool.query('select from bullmq.event')).rowCount, 0)
})

test('several processes may prepare the schema at once, and again', async (t) => {
  const fresh = await emptyDatabase()
  const { queues } = openQueues(t, { ...store, databaseUrl: fresh.url })
  await assert.rejects(queues.enqueue('deliveries', [delivery('early')]), /not initialized/)
  await Promise.all([1, 2, 3, 4].map(() => prepareQueueSchema(fresh.pool)))
  await prepareQueueSchema(fresh.pool)
  await queues.enqueue('deliveries', [delivery('early')])
  assert.equal((await queues.counts('deliveries')).waiting, 1)
})

test('a database that refuses connections is told to callers at once, and heals by itself', async (t) => {
  await store.wipe()
  const allow = (allowed: boolean) =>
    elsewhere.query(`alter database ${database.name} allow_connections ${allowed}`)
  t.after(() => allow(true))
  const { queues: running, errors } = openQueues(t, store)
  const handled: string[] = []
  await running.consume(
    'deliveries',
    async ({ deliveryId }) => {
      handled.push(deliveryId)
      return { done: true }
    },
    { concurrency: 2 },
  )
  await allow(false)
  await elsewhere.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
    database.name,
  ])
  const { queues: late } = openQueues(t, store)
  // The first call may still get the news that its connection is gone.
  await assert.rejects(
    running.enqueue('deliveries', [delivery('lost')]),
    /terminating connection|not currently accepting/,
  )
  for (const queues of [running, late]) {
    await assert.rejects(
      queues.enqueue('deliveries', [delivery('lost')]),
      /not currently accepting|terminating connection/,
    )
    await assert.rejects(queues.ping(), /not currently accepting|terminating connection/)
  }
  await assert.rejects(
    late.consume('ticks', async () => ({ done: true }), { concurrency: 1 }),
    /not currently accepting/,
  )
  await waitUntil('the outage to be reported', () => errors.length > 0)
  assert.ok(errors.length < 20, `${errors.length} reports of one outage`)
  await allow(true)
  await late.enqueue('deliveries', [delivery('healed')])
  await running.enqueue('deliveries', [delivery('healed_too')])
  await waitUntil('both jobs', () => handled.length === 2)
})

test('a pool too small for one more consumer is said so', async (t) => {
  const { queues } = openQueues(t, store, { poolMax: 3 })
  const first = await queues.consume('ticks', async () => ({ done: true }), { concurrency: 1 })
  await assert.rejects(
    queues.consume('deliveries', async () => ({ done: true }), { concurrency: 1 }),
    /pool of 3 connections has room for 1 consumer/,
  )
  await first.drain({ timeoutMs: 1_000 })
  await queues.consume('deliveries', async () => ({ done: true }), { concurrency: 1 })
})

test('twenty queues share the pool of their process', async (t) => {
  await store.wipe()
  const { queues } = openQueues(t, store, { poolMax: 4 })
  const names = Array.from({ length: 20 }, (_, index) => `images-engine${index}` as const)
  await Promise.all(
    names.map((name) => queues.enqueue(name, [{ id: 'build', data: { imageHash: 'sha256:ab' } }])),
  )
  const used = await pool.query(
    "select 1 from pg_stat_activity where datname = current_database() and application_name = 'queue-test'",
  )
  assert.ok((used.rowCount ?? 0) <= 4)
})
