import { migrate } from '@toolyard/db/migrate'
import type { Pool } from '@toolyard/db/pool'
import { prepareQueueSchema } from '@toolyard/queue/schema'
import { withPool } from './database.ts'
import type { Progress } from '../terminal/progress.ts'

// A migration may rewrite a big table, or wait for another's to end.
const migrationTimeoutMs = 15 * 60_000

/** Brings the tables up to this release, the queue's too where it lives in this database. Says what it applied. */
export async function migrateDatabase(url: string, progress: Progress): Promise<string[]> {
  const work = async (pool: Pool) => {
    const applied = await migrate(pool)
    // Also when the queue is a Redis: it costs nothing, and a later change back finds everything there.
    await prepareQueueSchema(pool)
    return applied.map(({ number, title }) => `${String(number).padStart(4, '0')}_${title}`)
  }
  return progress.step('Migrating the database', () =>
    withPool(url, work, { statementTimeoutMs: migrationTimeoutMs }),
  )
}
