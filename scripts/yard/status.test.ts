import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDuration, formatTable } from './status.ts'

test('a duration is said in its two largest units', () => {
  const seconds = {
    0: '0 s',
    59: '59 s',
    60: '1 min 0 s',
    3_599: '59 min 59 s',
    3_600: '1 h 0 min',
    90_000: '1 d 1 h',
  }
  for (const [value, words] of Object.entries(seconds))
    assert.equal(formatDuration(Number(value) * 1_000), words)
})

test('the table is aligned and leaves out what is not known', () => {
  const nowMs = Date.parse('2026-01-01T00:01:00Z')
  const table = formatTable(
    [
      { name: 'api', state: 'ready', pid: 7, since: '2026-01-01T00:00:00Z', restarts: 2, detail: 'http://x' },
      { name: 'database', state: 'external', detail: 'db:5432/x' },
    ],
    nowMs,
  )
  assert.equal(
    table,
    'api       ready     pid 7  up 1 min 0 s  restarted 2 times, http://x\ndatabase  external                       db:5432/x',
  )
})
