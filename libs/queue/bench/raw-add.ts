import assert from 'node:assert/strict'
import { createPool } from '@toolyard/db/pool'
import { Queue, createPostgresBackend, isPgPool } from 'bullmq'
import { connectRedis } from '../src/redis.ts'
import type { RawQueue } from '../src/backend.ts'
import { jobOptions } from '../src/stored-job.ts'

export type RawStore = { databaseUrl: string } | { redisUrl: string }
export type RawAddBench = { inFlight: number; perSecond: number }

// As many as a process has for its queues.
const poolMax = 12
const queue = 'raw-add'

/**
 * How many jobs a second BullMQ's own `add` stores, nothing of ours around it. On Postgres each is durable when it is
 * answered, as an accepted invocation is. What it adds stays there: give it a store that is thrown away.
 */
export async function benchRawAdd(
  store: RawStore,
  { count, inFlight }: { count: number; inFlight: number },
): Promise<RawAddBench> {
  const { raw, close } = await open(store)
  let next = 0
  async function lane(): Promise<void> {
    for (let turn = next++; turn < count; turn = next++) {
      const data = { invocationId: `raw_${turn}`, attempt: 1 }
      await raw.add(queue, data, { ...jobOptions, jobId: `raw-${inFlight}-${turn}`, priority: 5, delay: 0 })
    }
  }
  try {
    // The first add prepares what the others find ready.
    await raw.add(queue, {}, { ...jobOptions, jobId: `raw-${inFlight}-first`, priority: 5, delay: 0 })
    const beganAtMs = performance.now()
    await Promise.all(Array.from({ length: inFlight }, lane))
    return { inFlight, perSecond: Math.round(count / ((performance.now() - beganAtMs) / 1_000)) }
  } finally {
    await close()
  }
}

async function open(store: RawStore): Promise<{ raw: RawQueue; close: () => Promise<void> }> {
  const applicationName = 'toolyard-bench-raw'
  if ('redisUrl' in store) {
    const backend = connectRedis({ ...store, prefix: queue, applicationName, onError: () => {} })
    const raw = backend.openQueue(queue)
    await raw.waitUntilReady()
    return { raw, close: () => raw.close().then(() => backend.close()) }
  }
  const opened = createPool({
    url: store.databaseUrl,
    max: poolMax,
    applicationName,
    serverOptions: '-c search_path=bullmq -c synchronous_commit=on',
    onIdleError: () => {},
  })
  const pool: unknown = opened
  assert(isPgPool(pool))
  const raw = new Queue(queue, { connection: pool }, createPostgresBackend)
  await raw.waitUntilReady()
  return { raw, close: () => raw.close().then(() => opened.end()) }
}
