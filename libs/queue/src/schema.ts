import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { runMigrations } from 'bullmq'

// Nobody reads BullMQ's events: what happens to an invocation is told from its row. On Postgres each of them is a row
// and a notification, four for a job, and commits that notify stand in line for a lock of the whole database.
const silenceEvents = `
  create or replace function bullmq.publish_event(p_queue text, p_event text, p_data jsonb) returns bigint
  language sql immutable as 'select 0::bigint'`

// Whoever replaces a function while another does is refused.
const oneAtATime = 'lock table bullmq.migration in share row exclusive mode'

/**
 * Makes or updates BullMQ's own tables (Postgres schema `bullmq`). Several processes may call it at once: it works in
 * two transactions under locks. Not needed, and harmless, when the queue is Redis.
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
  await transaction(pool, async (sql) => {
    await sql.query(oneAtATime)
    await sql.query(silenceEvents)
  })
}
