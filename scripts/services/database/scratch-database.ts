import { randomBytes } from 'node:crypto'
import { migrate } from '@toolyard/db/migrate'
import type { Pool } from '@toolyard/db/pool'
import { prepareQueueSchema } from '@toolyard/queue/schema'
import { withPool } from './database.ts'
import type { Installation } from '../installation/installation.ts'
import { findPostgres, stopPostgres } from '../postgres/own-postgres.ts'
import { testPostgresHome } from '../postgres/home.ts'
import type { Progress } from '../terminal/progress.ts'
import { startTestDatabase } from '../testing/test-services.ts'

// A database of many gigabytes is not gone at once.
const maintenanceLimits = { statementTimeoutMs: 600_000 }

/** A migrated database that is empty and gone afterwards, on the server that tests use. */
export async function withScratchDatabase<T>(
  installation: Installation,
  progress: Progress,
  work: (pool: Pool, databaseUrl: string) => Promise<T>,
): Promise<T> {
  const home = testPostgresHome(installation)
  const isOurs = installation.config.databaseUrl === undefined && findPostgres(home) === undefined
  const server = await startTestDatabase(installation, progress, new AbortController().signal)
  const name = `toolyard_scratch_${randomBytes(6).toString('hex')}`
  try {
    return await withPool(
      server,
      async (maintenance) => {
        await maintenance.query(`create database ${name}`)
        try {
          return await withPool(urlOf(server, name), async (pool) => {
            await migrate(pool)
            await prepareQueueSchema(pool)
            return work(pool, urlOf(server, name))
          })
        } finally {
          await maintenance.query(`drop database ${name} with (force)`)
        }
      },
      maintenanceLimits,
    )
  } finally {
    if (isOurs) await stopPostgres(home)
  }
}

function urlOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}
