import assert from 'node:assert/strict'
import type { Pool } from '@toolyard/db/pool'
import { createPool } from '@toolyard/db/pool'
import type { PgPool } from 'bullmq'
import { Queue, Worker, assertSchemaCompatibility, createPostgresBackend, isPgPool } from 'bullmq'
import type { Backend } from './backend.ts'
import { withPacedFetching } from './pace-fetching.ts'
import { QueueError } from './queue-error.ts'

export type PostgresOptions = {
  databaseUrl: string
  /** Connections of this process for the queue; each consumer keeps one of them for LISTEN. */
  poolMax: number
  applicationName: string
  onError: (error: Error) => void
}

// What consumers leave for everybody's statements; with fewer, a burst of finished jobs waits for a connection.
const sharedConnectionsMin = 2
// BullMQ makes a temporary table for each addBulk. Measured: of 5 jobs it costs the database twice what their adds do,
// of 12 the same, of 40 a third.
const bulkMin = 12
const workerBackend = withPacedFetching(createPostgresBackend)

/** BullMQ on Postgres: one pool for all queues and consumers of the process. */
export function connectPostgres(options: PostgresOptions): Backend {
  const pool = createPool({
    url: options.databaseUrl,
    max: options.poolMax,
    applicationName: options.applicationName,
    // BullMQ's statements name no schema. Losing the last commits in a crash is repaired from the rows.
    serverOptions: '-c search_path=bullmq -c synchronous_commit=off',
    onIdleError: options.onError,
  })
  // BullMQ adds a listener for each queue and consumer; more than ten of them is no leak.
  pool.setMaxListeners(0)
  const connection = asBullPool(pool)
  let workers = 0
  return {
    kind: 'postgres',
    bulkMin,
    openQueue: (name) => new Queue(name, { connection }, createPostgresBackend),
    openWorker(name, processor, settings) {
      if (workers + 1 + sharedConnectionsMin > options.poolMax) {
        throw new QueueError(
          'refused',
          `A pool of ${options.poolMax} connections has room for ${Math.max(0, options.poolMax - sharedConnectionsMin)} consumer(s): raise it`,
        )
      }
      const worker = new Worker(name, processor, { ...settings, connection }, workerBackend)
      workers += 1
      worker.once('closed', () => {
        workers -= 1
      })
      return worker
    },
    async ping() {
      await assertSchemaCompatibility(pool)
    },
    close: () => pool.end(),
  }
}

// The declarations of pg and BullMQ disagree on overloads of `on`, though a pg pool is what BullMQ means.
function asBullPool(pool: Pool): PgPool {
  const given: unknown = pool
  assert(isPgPool(given))
  return given
}
