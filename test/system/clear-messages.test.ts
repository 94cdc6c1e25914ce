import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort } from '@toolyard/testkit/free-port'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import type { Outcome } from '../fixtures/yard.ts'
import { testYard } from '../fixtures/yard.ts'

// Each thing that a person can mend: one message that names the mend, exit code 1, no stack, nothing started.

function assertClear(outcome: Outcome, message: RegExp): void {
  assert.equal(outcome.code, 1, outcome.stderr)
  assert.match(outcome.stderr, message)
  assert.doesNotMatch(outcome.stderr, /\n\s+at /, 'no stack')
}

test('a wrong configuration names all its faults at once, and none of its secrets', async (t) => {
  const yard = await testYard(t)
  const outcome = await yard.run(['up', '--detach'], {
    YARD_PORT: '99999',
    YARD_DRAIN_SECNDS: '3',
    DATABASE_URL: 'mysql://u:hunter2@h/d',
  })
  assertClear(outcome, /3 faults/)
  for (const part of ['YARD_PORT', 'did you mean YARD_DRAIN_SECONDS', 'DATABASE_URL'])
    assert.ok(outcome.stderr.includes(part), part)
  assert.doesNotMatch(outcome.stderr, /hunter2/)
  assert.deepEqual(yard.processes(), [])
})

test('a taken port names who has it and which setting to change', async (t) => {
  const yard = await testYard(t)
  const squatter = createServer()
  await new Promise<void>((resolve) => squatter.listen(Number(new URL(yard.url).port), '127.0.0.1', resolve))
  t.after(() => squatter.close())
  assertClear(
    await yard.run(['up', '--detach']),
    new RegExp(`Port \\d+ is taken by .*\\(pid ${process.pid}\\).*YARD_PORT`),
  )
  assert.deepEqual(yard.processes(), [])
})

test('a data directory that cannot be written names the setting', async (t) => {
  const yard = await testYard(t)
  assertClear(
    await yard.run(['up', '--detach'], { YARD_DATA_DIR: '/dev/null/data' }),
    /cannot be written.*YARD_DATA_DIR/,
  )
})

test('a folder of somebody else’s is no data directory, for whichever command', async (t) => {
  const yard = await testYard(t)
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'engine', 'run'), { recursive: true })
  writeFileSync(join(folder, 'thesis.txt'), '')
  for (const args of [['up', '--detach'], ['down'], ['down', '--delete-data', '--yes']]) {
    assertClear(
      await yard.run(args, { YARD_DATA_DIR: folder }),
      /is not one of Toolyard's data directories and is not empty \(engine, thesis.txt\): set YARD_DATA_DIR/,
    )
  }
  assert.deepEqual(readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted(), [
    'engine',
    'engine/run',
    'thesis.txt',
  ])
})

test('no Docker engine where DOCKER_HOST says is told before anything is started', async (t) => {
  const yard = await testYard(t)
  const outcome = await yard.run(['up', '--detach'], { DOCKER_HOST: 'unix:///nonexistent/docker.sock' })
  assertClear(
    outcome,
    /Docker engine at unix:\/\/\/nonexistent\/docker\.sock cannot be used \(ENOENT\).*DOCKER_HOST/,
  )
  assert.deepEqual(yard.processes(), [])
})

test('a database and a Redis that are down at the start are waited for, then named with the mend', async (t) => {
  const yard = await testYard(t)
  const port = await freePort()
  const [database, redis] = await Promise.all([
    yard.run(['up', '--detach'], { DATABASE_URL: `postgres://u:hunter2@127.0.0.1:${port}/d` }),
    (await testYard(t)).run(['up', '--detach'], { REDIS_URL: `redis://:hunter2@127.0.0.1:${port}` }),
  ])
  assertClear(database, new RegExp(`No database at u@127.0.0.1:${port}/d .*correct DATABASE_URL`))
  assertClear(redis, new RegExp(`No Redis at 127.0.0.1:${port} .*correct REDIS_URL`))
  for (const { stdout, stderr } of [database, redis]) assert.doesNotMatch(stdout + stderr, /hunter2/)
  assert.match(database.stdout, /Waiting for the database at .* …/, 'progress is shown')
  assert.deepEqual(yard.processes(), [])
})

test('a mistyped command or option is a matter of usage', async (t) => {
  const yard = await testYard(t)
  const command = await yard.run(['sttaus'])
  assert.deepEqual(
    [command.code, command.stderr.trim()],
    [2, 'yard: there is no command "sttaus"; did you mean "./yard status"?'],
  )
  assert.equal((await yard.run(['up', '--detahc'])).code, 2)
  const help = await yard.run(['--help'])
  assert.equal(help.code, 0)
  for (const name of ['up', 'down', 'status', 'test', 'verify'])
    assert.match(help.stdout, new RegExp(`^ {2}${name} `, 'm'))
  for (const args of [
    ['bench', '--help'],
    ['down', '-h'],
    ['schedule', '--help'],
    ['schedule', 'list', '--help'],
  ]) {
    const { code, stdout } = await yard.run(args)
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`\\./yard ${args[0]}`))
  }
  assert.deepEqual(yard.processes(), [])
})
