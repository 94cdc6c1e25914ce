import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import { migrate, readMigrations } from '@toolyard/db/migrate'
import type { Pool } from '@toolyard/db/pool'
import { createPool } from '@toolyard/db/pool'
import { testDatabaseServer } from './environment.ts'

export type TestDatabase = { name: string; url: string; pool: Pool }

/**
 * A database of this test file's own, migrated, dropped when the file ends.
 * Cloned from a template that is made once per set of migrations, because a clone costs a tenth of migrating.
 */
export async function testDatabase(): Promise<TestDatabase> {
  const template = await ensureTemplate()
  return cloneDatabase(template)
}

/** An empty database, for tests of the migrations themselves. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return cloneDatabase('template0')
}

async function cloneDatabase(template: string): Promise<TestDatabase> {
  const name = `toolyard_test_${randomBytes(6).toString('hex')}`
  await onServer((server) => server.query(`create database ${name} template ${template}`))
  const url = databaseUrl(name)
  const pool = quietPool(url)
  after(async () => {
    await pool.end()
    await onServer((server) => server.query(`drop database if exists ${name} with (force)`))
  })
  return { name, url, pool }
}

async function ensureTemplate(): Promise<string> {
  const migrations = readMigrations()
  const fingerprint = migrations.map((migration) => migration.checksum.slice(0, 6)).join('')
  const name = `toolyard_template_${fingerprint.slice(-36)}`
  await onServer(async (server) => {
    // Test files run in processes of their own and all want the template first.
    const client = await server.connect()
    try {
      await client.query('select pg_advisory_lock(hashtext($1))', [name])
      const found = await client.query('select 1 from pg_database where datname = $1 and datistemplate', [
        name,
      ])
      if (found.rowCount === 1) return
      await client.query(`drop database if exists ${name} with (force)`)
      await client.query(`create database ${name} template template0`)
      const pool = quietPool(databaseUrl(name))
      await migrate(pool, migrations)
      await pool.end()
      await client.query(`alter database ${name} is_template true`)
    } finally {
      client.release(true)
    }
  })
  return name
}

async function onServer<T>(work: (server: Pool) => Promise<T>): Promise<T> {
  const server = quietPool(testDatabaseServer())
  try {
    return await work(server)
  } finally {
    await server.end()
  }
}

function databaseUrl(name: string): string {
  const url = new URL(testDatabaseServer())
  url.pathname = `/${name}`
  return url.href
}

// Tests that stop the database on purpose break idle connections; the statement that follows tells.
function quietPool(url: string): Pool {
  return createPool({ url, max: 10, applicationName: 'toolyard-test', onIdleError: () => {} })
}
