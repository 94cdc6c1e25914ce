import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { acquireLock, withLock } from './lock.ts'

const execute = promisify(execFile)
const options = { waitMs: 10_000, what: 'Somebody is at it' }

test('one at a time holds the lock, and everybody gets a turn', async (t) => {
  const path = join(temporaryFolder(t), 'run', 'lock.json')
  let inside = 0
  let turns = 0
  const work = async () => {
    inside++
    assert.equal(inside, 1)
    await new Promise((resolve) => setImmediate(resolve))
    inside--
    turns++
  }
  await Promise.all(Array.from({ length: 8 }, () => withLock(path, options, work)))
  assert.equal(turns, 8)
  assert.deepEqual(readdirSync(join(path, '..')), [])
})

test('a lock that is held is waited for and then refused, naming who has it', async (t) => {
  const path = join(temporaryFolder(t), 'lock.json')
  const release = await acquireLock(path, options)
  await assert.rejects(acquireLock(path, { ...options, waitMs: 60 }), {
    name: 'Failure',
    message: `Somebody is at it (pid ${process.pid}): try again when it has ended`,
  })
  release()
  await withLock(path, { ...options, waitMs: 0 }, async () => {})
})

test('a lock whose holder died is nobody’s', async (t) => {
  const path = join(temporaryFolder(t), 'lock.json')
  writeFileSync(path, JSON.stringify({ pid: process.pid, startTime: '1' }))
  const release = await acquireLock(path, { ...options, waitMs: 0 })
  assert.ok(existsSync(path))
  release()
  assert.ok(!existsSync(path))
})

test('a lock that names nobody is nobody’s', async (t) => {
  const path = join(temporaryFolder(t), 'lock.json')
  for (const text of ['', '{', '{"pid":1}']) {
    writeFileSync(path, text)
    await withLock(path, { ...options, waitMs: 0 }, async () => {})
    assert.ok(!existsSync(path))
  }
})

test('a lock is released once; after that it is another’s', async (t) => {
  const path = join(temporaryFolder(t), 'lock.json')
  const release = await acquireLock(path, options)
  release()
  const releaseNext = await acquireLock(path, options)
  release()
  assert.ok(existsSync(path), 'also where the other is in the same process')
  const other = JSON.stringify({ pid: 1, startTime: '1' })
  writeFileSync(path, other)
  releaseNext()
  assert.equal(readFileSync(path, 'utf8'), other)
})

test('of many processes that find a dead lock, one at a time has it', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'lock.json')
  writeFileSync(path, JSON.stringify({ pid: process.pid, startTime: '1' }))
  const script = `
    import { appendFileSync } from 'node:fs'
    import { setTimeout as delay } from 'node:timers/promises'
    import { withLock } from ${JSON.stringify(import.meta.resolve('./lock.ts'))}
    for (let turn = 0; turn < 3; turn++) {
      await withLock(${JSON.stringify(path)}, { waitMs: 30_000, what: '' }, async () => {
        appendFileSync(${JSON.stringify(join(folder, 'journal'))}, 'in\\n')
        await delay(2)
        appendFileSync(${JSON.stringify(join(folder, 'journal'))}, 'out\\n')
      })
    }`
  const runs = Array.from({ length: 4 }, () =>
    execute(process.execPath, ['--input-type=module', '--eval', script]),
  )
  await Promise.all(runs)
  assert.equal(readFileSync(join(folder, 'journal'), 'utf8'), 'in\nout\n'.repeat(12))
})
