import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { mergeByTime } from './logs.ts'

const program = join(import.meta.dirname, '../yard.ts')

const at = (seconds: number, message: string) =>
  JSON.stringify({ time: `2026-01-01T00:00:0${seconds}.000Z`, message })

test('the lines of several services come in the order in which they were written', () => {
  const merged = mergeByTime(
    [
      ['api', [at(1, 'a'), at(4, 'b')]],
      ['worker', [at(2, 'c'), at(3, 'd')]],
    ],
    10,
  )
  assert.deepEqual(
    merged.map(([name]) => name),
    ['api', 'worker', 'worker', 'api'],
  )
})

test('a stack stays below the line it belongs to', () => {
  const merged = mergeByTime(
    [
      ['api', [at(1, 'broke'), '    at x', at(5, 'on')]],
      ['worker', [at(2, 'c')]],
    ],
    10,
  )
  assert.deepEqual(
    merged.map(([, line]) => line),
    [at(1, 'broke'), '    at x', at(2, 'c'), at(5, 'on')],
  )
})

test('the limit keeps the newest', () => {
  assert.deepEqual(mergeByTime([['api', [at(1, 'a'), at(2, 'b')]]], 1), [['api', at(2, 'b')]])
})

test('a reader that has seen enough is no failure', (t) => {
  const dataDir = temporaryFolder(t)
  mkdirSync(join(dataDir, 'logs'))
  // More than a pipe holds, so that the last of it is written to nobody.
  writeFileSync(join(dataDir, 'logs', 'api.log'), `${at(1, 'x'.repeat(100))}\n`.repeat(5_000))
  const script = '{ "$0" "$1" logs api -f -n 5000; echo "ended with $?" >&2; } | head -n 1'
  const { stdout, stderr } = spawnSync('sh', ['-c', script, process.execPath, program], {
    env: { ...process.env, YARD_DATA_DIR: dataDir },
    encoding: 'utf8',
  })
  assert.equal(stdout.split('\n').length, 2)
  assert.equal(stderr, 'ended with 0\n')
})
