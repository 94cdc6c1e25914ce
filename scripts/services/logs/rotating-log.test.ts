import assert from 'node:assert/strict'
import { closeSync, mkdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { openLogDescriptor, openRotatingLog, trimLog } from './rotating-log.ts'
import { tailLines } from './tail.ts'

test('a full log is put aside, one old one is kept, and no line is lost on the way', async (t) => {
  const path = join(temporaryFolder(t), 'logs', 'api.log')
  const log = openRotatingLog(path, 1_000)
  for (let i = 0; i < 30; i++) log.write(`line ${i} `.padEnd(50, '.'))
  await log.close()
  const numbers = [...tailLines(`${path}.1`, 100), ...tailLines(path, 100)].map((line) =>
    Number(line.split(' ')[1]),
  )
  assert.deepEqual(
    numbers,
    Array.from({ length: 30 }, (_, i) => i),
  )
  assert.ok(statSync(path).size <= 1_100)
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a log that cannot be put aside is written on', async (t) => {
  const path = join(temporaryFolder(t), 'api.log')
  mkdirSync(join(`${path}.1`, 'in the way'), { recursive: true })
  const log = openRotatingLog(path, 10)
  for (let i = 0; i < 5; i++) log.write(`line number ${i}`)
  await log.close()
  assert.equal(tailLines(path, 10).length, 5)
})

test('a log whose folder was removed loses lines until it is full, then makes it anew', async (t) => {
  const path = join(temporaryFolder(t), 'logs', 'api.log')
  const log = openRotatingLog(path, 10)
  log.write('lost with its folder')
  rmSync(dirname(path), { recursive: true })
  log.write('kept')
  await log.close()
  assert.deepEqual(tailLines(path, 10), ['kept'])
})

test('a log goes on where it was left', async (t) => {
  const path = join(temporaryFolder(t), 'api.log')
  for (const line of ['one', 'two']) {
    const log = openRotatingLog(path)
    log.write(line)
    await log.close()
  }
  assert.deepEqual(tailLines(path, 10), ['one', 'two'])
})

test('a log that a running program writes is cut without its noticing', (t) => {
  const path = join(temporaryFolder(t), 'postgres.log')
  const log = openLogDescriptor(path)
  writeSync(log, 'x'.repeat(2_000))
  trimLog(path, 1_000)
  writeSync(log, 'after\n')
  closeSync(log)
  assert.equal(readFileSync(path, 'utf8'), 'after\n')
  assert.equal(statSync(`${path}.1`).size, 2_000)
})

test('the tail of a log is its last lines, of no log none', async (t) => {
  const path = join(temporaryFolder(t), 'x.log')
  assert.deepEqual(tailLines(path, 3), [])
  const log = openRotatingLog(path)
  for (const line of ['a', 'b', '', 'd']) log.write(line)
  await log.close()
  assert.deepEqual(tailLines(path, 3), ['b', '', 'd'])
  assert.deepEqual(tailLines(path, 0), [])
})
