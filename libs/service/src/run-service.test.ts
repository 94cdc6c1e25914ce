import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { emptyDatabase, testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { listProcesses } from './list-processes.ts'

const program = join(import.meta.dirname, 'fixtures/service.ts')

type Started = {
  child: ChildProcess
  output: () => string
  code: Promise<number | null>
  isReady: () => boolean
}

function startService(t: TestContext, environment: Record<string, string>, behaviour = 'well'): Started {
  const child = fork(program, [String(new URLSearchParams(environment)), behaviour], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  let isReady = false
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += String(data)))
  child.on('message', () => (isReady = true))
  // Not the child's own `close`: Node leaves it out after a disconnect.
  const ended = [child.stdout, child.stderr].flatMap((stream) =>
    stream === null ? [] : [once(stream, 'close')],
  )
  const code = once(child, 'exit').then(async ([exitCode]: (number | null)[]) => {
    await Promise.all(ended)
    return exitCode ?? null
  })
  t.after(() => child.kill('SIGKILL'))
  return { child, output: () => output, code, isReady: () => isReady }
}

test('every fault of the environment is told at once, without its secrets, and ends the process with 1', async (t) => {
  const service = startService(t, {
    DATABASE_URL: 'mysql://user:hunter2@host/db',
    YARD_DRAIN_SECONDS: 'soon',
    YARD_LOG_LEVL: 'debug',
  })
  assert.equal(await service.code, 1)
  for (const variable of ['DATABASE_URL', 'YARD_DRAIN_SECONDS', 'YARD_LOG_LEVEL'])
    assert.match(service.output(), new RegExp(variable))
  assert.doesNotMatch(service.output(), /hunter2|\n\s+at /)
})

test('a process without a database to go to says which variable names it', async (t) => {
  const service = startService(t, {})
  assert.equal(await service.code, 1)
  assert.match(service.output(), /DATABASE_URL: must be set/)
})

test('it tells that it is ready, is listed while it lives, and leaves on SIGTERM', async (t) => {
  const { url, pool } = await testDatabase()
  const service = startService(t, { DATABASE_URL: url })
  await waitUntil('it is ready', service.isReady)
  await waitUntil('it is listed', async () => (await listProcesses(pool)).length === 1)
  assert.deepEqual(await listProcesses(pool), [
    { kind: 'scheduler', ready: true, parts: { engine: { state: 'ready' } } },
  ])
  service.child.kill('SIGTERM')
  assert.equal(await service.code, 0)
  assert.match(service.output(), /draining/)
  assert.deepEqual(await listProcesses(pool), [])
})

test('it drains when the supervisor that started it is gone', async (t) => {
  const { url, pool } = await testDatabase()
  const service = startService(t, { DATABASE_URL: url })
  await waitUntil('it is listed', async () => (await listProcesses(pool)).length === 1)
  service.child.disconnect()
  assert.equal(await service.code, 0)
  assert.match(service.output(), /draining/)
  assert.deepEqual(await listProcesses(pool), [])
})

test('a database that is down at the start is waited for, and the log says what to see to', async (t) => {
  const { url } = await testDatabase()
  const proxy = await stallableProxy(url)
  proxy.cut()
  const service = startService(t, { DATABASE_URL: proxy.url })
  await waitUntil('it says so', () => service.output().includes('that DATABASE_URL is right'))
  assert.equal(service.isReady(), false)
  proxy.mend()
  await waitUntil('it is ready', service.isReady)
})

test('it ends on SIGTERM also while it waits for the database', async (t) => {
  const { url } = await testDatabase()
  const proxy = await stallableProxy(url)
  proxy.cut()
  const service = startService(t, { DATABASE_URL: proxy.url })
  await waitUntil('it waits', () => service.output().includes('Waiting for the database'))
  service.child.kill('SIGTERM')
  assert.equal(await service.code, 0)
})

test('a database without its tables, or with those of a newer release, ends the process with the mend', async (t) => {
  const empty = await emptyDatabase()
  const unmigrated = startService(t, { DATABASE_URL: empty.url })
  assert.equal(await unmigrated.code, 1)
  assert.match(unmigrated.output(), /yard migrate/)

  const { url, pool } = await testDatabase()
  await pool.query(
    "insert into schema_migrations (number, title, compatible, checksum) values (9999, 'later', false, 'x')",
  )
  const older = startService(t, { DATABASE_URL: url })
  assert.equal(await older.code, 1)
  assert.match(older.output(), /deploy the newer release/)
})

test('a drain that does not end is ended by force, and that is a failure', async (t) => {
  const { url } = await testDatabase()
  const service = startService(t, { DATABASE_URL: url, YARD_DRAIN_SECONDS: '1' }, 'drains-for-ever')
  await waitUntil('it is ready', service.isReady)
  service.child.kill('SIGTERM')
  assert.equal(await service.code, 1)
  assert.match(service.output(), /did not drain in 1 s/)
})

test('a second signal ends a drain on the spot', async (t) => {
  const { url } = await testDatabase()
  const service = startService(t, { DATABASE_URL: url }, 'drains-for-ever')
  await waitUntil('it is ready', service.isReady)
  service.child.kill('SIGTERM')
  await waitUntil('it drains', () => service.output().includes('draining'))
  service.child.kill('SIGTERM')
  assert.equal(await service.code, 143)
})

test('what goes wrong unforeseen ends the process, and its secrets are cut from what it says', async (t) => {
  const { url } = await testDatabase()
  for (const behaviour of ['fails-to-start', 'rejects-later']) {
    const service = startService(t, { DATABASE_URL: url }, behaviour)
    assert.equal(await service.code, 1)
    assert.match(service.output(), /"level":"error"/)
    assert.doesNotMatch(service.output(), /hunter2/)
  }
})
