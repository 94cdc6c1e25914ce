import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { withPool } from '../database/database.ts'
import { temporaryPostgres } from './fixtures/temporary-postgres.ts'
import { findPostgres, startPostgres, stopPostgres } from './own-postgres.ts'
import { hasEnded, isAlive } from '../machine/process-identity.ts'

test('a cluster is made, keeps its data and port over a stop, and is stopped twice without fault', async (t) => {
  const home = temporaryPostgres(t)
  const first = await startPostgres(home)
  await withPool(first.url, (pool) => pool.query('create table kept (x integer)'))
  assert.equal(await stopPostgres(home), true)
  assert.equal(await stopPostgres(home), false)
  assert.equal(isAlive(first.identity), false)
  const second = await startPostgres(home)
  assert.equal(second.url, first.url)
  await withPool(second.url, (pool) => pool.query('select x from kept'))
})

test('a running cluster is gone on with, as after a supervisor that was killed', async (t) => {
  const home = temporaryPostgres(t)
  const first = await startPostgres(home)
  const second = await startPostgres(home)
  assert.deepEqual(second.identity, first.identity)
  assert.equal(second.adopted, true)
})

test('a server that was killed recovers at the next start', async (t) => {
  const home = temporaryPostgres(t)
  const first = await startPostgres(home)
  await withPool(first.url, (pool) => pool.query('create table kept (x integer)'))
  process.kill(first.identity.pid, 'SIGKILL')
  assert.ok(await hasEnded(first.identity, 5_000))
  assert.equal(findPostgres(home), undefined)
  const second = await startPostgres(home)
  await withPool(second.url, (pool) => pool.query('select x from kept'))
})

test('a port that somebody took meanwhile is given up for another', async (t) => {
  const home = temporaryPostgres(t)
  const first = await startPostgres(home)
  await stopPostgres(home)
  const squatter = createServer()
  await new Promise<void>((resolve) => squatter.listen(first.port, '127.0.0.1', resolve))
  t.after(() => squatter.close())
  const second = await startPostgres(home)
  assert.notEqual(second.port, first.port)
  await stopPostgres(home)
  assert.match(readFileSync(home.record, 'utf8'), new RegExp(`"port": ${second.port}`))
})

test('a setting up that was killed halfway is thrown away and done again', async (t) => {
  const home = temporaryPostgres(t)
  const half = join(home.folder, 'new-1')
  mkdirSync(half, { recursive: true })
  writeFileSync(join(half, 'PG_VERSION'), '18\n')
  const postgres = await startPostgres(home)
  assert.deepEqual(readdirSync(postgres.folder), ['data'])
})

test('a pid file that names a process of somebody else is no server', async (t) => {
  const home = temporaryPostgres(t)
  const { folder } = await startPostgres(home)
  await stopPostgres(home)
  writeFileSync(join(folder, 'data', 'postmaster.pid'), `${process.pid}\n${folder}/data\n1\n1\n`)
  assert.equal(await stopPostgres(home), false)
  assert.ok(isAlive((await startPostgres(home)).identity))
})

test('data of another major version is refused with the mend', async (t) => {
  const home = temporaryPostgres(t)
  const { folder } = await startPostgres(home)
  await stopPostgres(home)
  writeFileSync(join(folder, 'data', 'PG_VERSION'), '16\n')
  await assert.rejects(startPostgres(home), {
    name: 'Failure',
    message: /is of Postgres 16, this release runs 18: dump it/,
  })
})

test('a cluster whose password is lost is not overwritten', async (t) => {
  const home = temporaryPostgres(t)
  await startPostgres(home)
  await stopPostgres(home)
  renameSync(home.record, `${home.record}.away`)
  await assert.rejects(startPostgres(home), {
    name: 'Failure',
    message: /holds the password of the database, is gone/,
  })
  renameSync(`${home.record}.away`, home.record)
})

test('the password is in a file of its owner alone, and without it nobody gets in', async (t) => {
  const home = temporaryPostgres(t)
  const { url } = await startPostgres(home)
  assert.equal(statSync(home.record).mode & 0o777, 0o600)
  const [bySocket, byPort] = [new URL(url), new URL(url)]
  byPort.searchParams.delete('host')
  assert.notEqual(byPort.href, bySocket.href)
  for (const wrong of [bySocket, byPort]) {
    await withPool(wrong.href, (pool) => pool.query('select 1'))
    wrong.password = 'guess'
    await assert.rejects(
      withPool(wrong.href, (pool) => pool.query('select 1')),
      /password authentication failed/,
    )
  }
})

test('where the path is too long for a socket, the port does', async (t) => {
  const home = temporaryPostgres(t)
  const { url } = await startPostgres({ ...home, folder: join(home.folder, 'a'.repeat(80)) })
  assert.equal(new URL(url).search, '')
  await withPool(url, (pool) => pool.query('select 1'))
})
