import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import { testRedisUrl } from '@toolyard/testkit/environment'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { partOf, readiness, runningYard } from '../fixtures/yard.ts'

test('a database that goes away makes it unready, and ready again by itself when it is back', async (t) => {
  const database = await emptyDatabase()
  const proxy = await stallableProxy(database.url)
  const yard = await runningYard(t, { DATABASE_URL: proxy.url })
  const before = yard.processes()
  proxy.cut()
  await waitUntil('it says that it is not ready', async () => (await readiness(yard.url)) === 503, 30_000)
  assert.equal((await yard.run(['status'])).code, 3)
  const again = await yard.run(['up', '--detach'])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /^yard: Toolyard runs since .* but is not ready at .*: HTTP 503/)
  proxy.mend()
  await waitUntil('it is ready again', async () => (await readiness(yard.url)) === 200, 30_000)
  assert.deepEqual(yard.processes(), before, 'no process had to be started again')
})

test('the embedded database that is killed is brought back', async (t) => {
  const yard = await runningYard(t)
  const { folder } = JSON.parse(readFileSync(join(yard.dataDir, 'postgres.json'), 'utf8'))
  const pidFile = join(yard.dataDir, folder, 'data', 'postmaster.pid')
  const pid = pidIn(pidFile)
  assert.ok(pid)
  process.kill(pid, 'SIGKILL')
  await waitUntil('another one runs', () => ![undefined, pid].includes(pidIn(pidFile)), 30_000)
  await waitUntil('it is ready again', async () => (await readiness(yard.url)) === 200, 30_000)
})

test('with real servers named no service of ours is started', async (t) => {
  const database = await emptyDatabase()
  const yard = await runningYard(t, { DATABASE_URL: database.url, REDIS_URL: testRedisUrl() })
  assert.deepEqual(
    yard.processes().filter((line) => /postgres|redis|dockerd/.test(line)),
    [],
  )
  const status = await yard.status()
  assert.equal(partOf(status, 'database').state, 'external')
  assert.equal(partOf(status, 'queue').state, 'redis')
})

/** Undefined while there is no server: its start takes the old file away and writes a new one. */
function pidIn(pidFile: string): number | undefined {
  return existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[0]) : undefined
}
