import { Queue, Worker, createRedisBackend } from 'bullmq'
import { Redis } from 'ioredis'
import type { Backend } from './backend.ts'
import { withEndWhileReconnecting } from './end-while-reconnecting.ts'
import { withPacedFetching } from './pace-fetching.ts'

export type RedisOptions = {
  redisUrl: string
  /** Before every key of ours, so that several installations can share a server. */
  prefix: string
  applicationName: string
  onError: (error: Error) => void
}

// The longest pause between two attempts to reach a Redis that is down.
const reconnectMaxMs = 2_000
const workerBackend = withPacedFetching(withEndWhileReconnecting(createRedisBackend))

/** BullMQ on Redis: one connection for all queues, one for all consumers, and one more for each consumer that blocks. */
export function connectRedis(options: RedisOptions): Backend {
  const connect = () => {
    const client = new Redis(options.redisUrl, {
      connectionName: options.applicationName,
      // Commands wait for the connection to come back; the callers' own deadlines bound the waiting.
      maxRetriesPerRequest: null,
      retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), reconnectMaxMs),
    })
    client.on('error', options.onError)
    return client
  }
  const producers = connect()
  const consumers = connect()
  const { prefix } = options
  return {
    kind: 'redis',
    bulkMin: 2,
    openQueue: (name) => new Queue(name, { connection: producers, prefix }),
    openWorker: (name, processor, settings) =>
      new Worker(name, processor, { ...settings, connection: consumers, prefix }, workerBackend),
    async ping() {
      await producers.ping()
    },
    async close() {
      producers.disconnect()
      consumers.disconnect()
    },
  }
}
