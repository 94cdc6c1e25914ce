import type { Pool } from '@toolyard/db/pool'
import { runMigrations } from 'bullmq'

/**
 * Makes or updates BullMQ's own tables (Postgres schema `bullmq`). Several processes may call it at once: it works in
 * one transaction under an advisory lock. Not needed, and harmless, when the queue is Redis.
 */
export async function prepareQueueSchema(pool: Pool): Promise<void> {
  const client = await pool.connect()
  let failed = true
  try {
    await runMigrations(client)
    failed = false
  } finally {
    // After a failure the connection's state is unknown: destroyed, not pooled.
    client.release(failed)
  }
}
