import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeByTime } from './logs.ts'

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
