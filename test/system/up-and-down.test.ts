import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import {
  outcomeOf,
  partOf,
  readiness,
  runningYard,
  succeeded,
  supervisorOf,
  testYard,
} from '../fixtures/yard.ts'

test('up, up again, status, a key that works, down: and nothing is left', async (t) => {
  const yard = await testYard(t)
  const up = await yard.run(['up', '--detach'])
  assert.equal(up.code, 0, up.stderr)
  assert.match(up.stdout, new RegExp(`Toolyard is ready at ${yard.url}`))
  assert.equal(await readiness(yard.url), 200)

  const keyFile = join(yard.dataDir, 'admin.key')
  const token = readFileSync(keyFile, 'utf8').trim()
  assert.equal(statSync(keyFile).mode & 0o777, 0o600)
  assert.ok(up.stdout.includes(keyFile) && !up.stdout.includes(token), 'says where the key is, never the key')
  const answer = await fetch(`${yard.url}/keys`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(answer.status, 200)

  const again = await yard.run(['up', '--detach'])
  assert.equal(again.code, 0, again.stderr)
  assert.equal(again.stdout.trim(), up.stdout.slice(up.stdout.indexOf('Toolyard is ready')).trim())

  const moved = await yard.run(['up', '--detach'], { YARD_PORT: '9' })
  assert.equal(moved.code, 0, moved.stderr)
  assert.match(moved.stdout, new RegExp(`YARD_PORT: http://127.0.0.1:9, where it runs with ${yard.url}`))

  const status = JSON.parse(succeeded(await yard.run(['status', '--json'])))
  assert.equal(status.ready, true)
  for (const app of ['api', 'worker', 'scheduler']) assert.equal(partOf(status, app).state, 'ready', app)

  const down = await yard.run(['down'])
  assert.equal(down.code, 0, down.stderr)
  assert.match(down.stdout, /^Stopped api, worker, scheduler, Postgres/m)
  assert.deepEqual(yard.processes(), [])
  assert.deepEqual(socketsIn(yard.dataDir), [])
  assert.notEqual(await readiness(yard.url), 200)
  assert.equal((await yard.run(['status'])).code, 3)
  assert.match((await yard.run(['down'])).stdout, /Nothing was running/)
})

test('what was there is there after a second start, the key too', async (t) => {
  const yard = await runningYard(t)
  const made = await yard.run(['key', 'create', '--name', 'kept', '--scope', 'tools:read'])
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^yk_\S+\n$/, 'stdout is the key alone')
  const adminKey = readFileSync(join(yard.dataDir, 'admin.key'), 'utf8')
  await yard.run(['down'])
  const offline = await yard.run(['key', 'list'])
  assert.equal(offline.code, 0, offline.stderr)
  assert.match(offline.stdout, /"kept"/)
  assert.deepEqual(yard.processes(), [], 'a database that was started for one command is stopped after it')
  const second = await yard.run(['up', '--detach'])
  assert.equal(second.code, 0, second.stderr)
  assert.equal(readFileSync(join(yard.dataDir, 'admin.key'), 'utf8'), adminKey)
})

test('a curl line that is printed works, also after other databases and a revoked key', async (t) => {
  const yard = await testYard(t)
  const { url } = await emptyDatabase()
  const callPrinted = async (environment = {}) => {
    const { stdout, stderr } = await yard.run(['up', '--detach'], environment)
    const line = /^ {2}curl .*$/m.exec(stdout)?.[0]
    assert.ok(line !== undefined, stderr)
    const call = (typed: string) =>
      JSON.parse(execFileSync('sh', ['-c', `${typed} --silent --fail`], { encoding: 'utf8' }))
    const printed = call(line)
    // Without a key of its own it prints what needs none.
    const answer = line.endsWith('/tools') ? call(line.replace(/\/tools$/, '/keys')) : printed
    assert.ok(Array.isArray(printed.tools) || printed.status === 'ready', line)
    await yard.run(['down'])
    return { stdout, answer }
  }
  await callPrinted()
  const named = await callPrinted({ DATABASE_URL: url })
  const own = await callPrinted()
  assert.equal(named.answer.keys.length, 1)
  assert.equal(own.answer.keys.length, 1)
  assert.notEqual(own.answer.keys[0].id, named.answer.keys[0].id)
  await yard.run(['key', 'create', '--name', 'other', '--scope', 'keys:manage'])
  await yard.run(['key', 'revoke', own.answer.keys[0].id])
  const { stdout } = await callPrinted()
  assert.match(stdout, /admin key +none here that works: make one with \.\/yard key create/)
})

test('two starts at once make one installation', async (t) => {
  const yard = await testYard(t)
  const [first, second] = await Promise.all([yard.run(['up', '--detach']), yard.run(['up', '--detach'])])
  assert.equal(first.code, 0, first.stderr)
  assert.equal(second.code, 0, second.stderr)
  assert.equal(yard.processes().filter((line) => line.includes('supervise.ts')).length, 1)
})

test('in the foreground Ctrl-C ends everything and is no failure', async (t) => {
  const yard = await testYard(t)
  const child = yard.start(['up'])
  const outcome = outcomeOf(child)
  await waitUntil(
    'it is ready',
    async () => (await readiness(yard.url)) === 200 && existsSync(join(yard.dataDir, 'admin.key')),
    60_000,
  )
  await waitUntil('its state says so', async () => (await yard.run(['status'])).code === 0)
  child.kill('SIGINT')
  assert.equal((await outcome).code, 0)
  assert.deepEqual(yard.processes(), [])
})

test('in the foreground it goes on when nobody reads what it says', async (t) => {
  const yard = await testYard(t)
  const child = yard.start(['up'])
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await waitUntil('it is ready', async () => (await yard.run(['status'])).code === 0, 60_000)
  child.stdout?.destroy()
  // Its end is told on the output that nobody reads.
  kill(partOf(await yard.status(), 'scheduler'))
  await waitUntil(
    'the scheduler was started again',
    async () => {
      const { ready, parts } = await yard.status()
      return ready && parts.some(({ restarts }) => restarts === 1)
    },
    20_000,
  )
  child.kill('SIGINT')
  assert.equal(await ended, 0)
  assert.deepEqual(yard.processes(), [])
})

test('a start that is interrupted leaves nothing', async (t) => {
  const yard = await testYard(t)
  const child = yard.start(['up', '--detach'])
  const outcome = outcomeOf(child)
  await waitUntil(
    'the supervisor is there',
    () => existsSync(join(yard.dataDir, 'run', 'supervisor.json')),
    60_000,
  )
  child.kill('SIGINT')
  assert.equal((await outcome).code, 130)
  await waitUntil('nothing is left', () => yard.processes().length === 0)
})

test('after the supervisor was killed, up goes on with what it left', async (t) => {
  const yard = await runningYard(t)
  process.kill(supervisorOf(yard.dataDir), 'SIGKILL')
  const up = await yard.run(['up', '--detach'])
  assert.equal(up.code, 0, up.stderr)
  assert.equal(await readiness(yard.url), 200)
  const starts = readFileSync(join(yard.dataDir, 'logs', 'postgres.log'), 'utf8').match(
    /starting PostgreSQL/g,
  )
  assert.equal(starts?.length, 1, 'its database went on running')
})

test('after the supervisor was killed, down takes away what it left', async (t) => {
  const yard = await runningYard(t)
  process.kill(supervisorOf(yard.dataDir), 'SIGKILL')
  const down = await yard.run(['down'])
  assert.equal(down.code, 0, down.stderr)
  assert.match(down.stdout, /Postgres/)
  assert.deepEqual(yard.processes(), [])
})

test('an app that is killed is started again', async (t) => {
  const yard = await runningYard(t)
  const api = partOf(await yard.status(), 'api')
  kill(api)
  await waitUntil(
    'another api is ready',
    async () => {
      const now = await yard.status()
      const { pid, restarts } = partOf(now, 'api')
      return now.ready && pid !== undefined && pid !== api.pid && restarts === 1
    },
    20_000,
  )
  assert.match(
    (await yard.run(['logs', 'api', '-n', '200'])).stdout,
    /api ended \(SIGKILL\); starting it again/,
  )
})

test('deleting the data needs a yes, and takes all of it', async (t) => {
  const yard = await runningYard(t)
  const refused = await yard.run(['down', '--delete-data'])
  assert.equal(refused.code, 1)
  assert.equal(await readiness(yard.url), 200, 'and nothing was stopped')
  assert.equal((await yard.run(['down', '--delete-data', '--yes'])).code, 0)
  assert.ok(!existsSync(yard.dataDir))
})

function kill({ pid }: { pid?: number }): void {
  assert.ok(pid !== undefined)
  process.kill(pid, 'SIGKILL')
}

function socketsIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isSocket()).map((entry) => join(entry.parentPath, entry.name))
}
