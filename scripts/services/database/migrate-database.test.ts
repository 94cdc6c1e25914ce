import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitForDatabase, withPool } from './database.ts'
import { temporaryPostgres } from '../postgres/fixtures/temporary-postgres.ts'
import { startPostgres } from '../postgres/own-postgres.ts'
import { migrateDatabase } from './migrate-database.ts'
import { createProgress } from '../terminal/progress.ts'

const progress = createProgress(() => {})

test('a role that may not make tables is told the grant, and works once it has it', async (t) => {
  const server = await startPostgres(temporaryPostgres(t))
  const url = new URL(server.url)
  url.username = 'Ada'
  url.password = 'pw'
  const migrated = () => migrateDatabase(url.href, progress)
  const never = new AbortController().signal
  await withPool(server.url, async (owner) => {
    await owner.query(
      `create role "Ada" login password 'pw'; revoke connect on database toolyard from public`,
    )
    const connect = 'grant connect, create on database toolyard to "Ada"'
    await assert.rejects(waitForDatabase(url.href, 60_000, never), refusalNaming(connect))
    await owner.query('grant connect on database toolyard to "Ada"')
    const create = 'grant usage, create on schema public to "Ada"'
    await assert.rejects(migrated(), refusalNaming(create))
    await owner.query(create)
    await assert.rejects(migrated(), refusalNaming(connect))
    await owner.query(connect)
    await migrated()
  })
})

const refusalNaming = (grant: string) => (error: Error) => {
  assert.equal(error.name, 'Failure')
  assert.ok(error.message.includes(`let its owner run "${grant}"`), error.message)
  return true
}
