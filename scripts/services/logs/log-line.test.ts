import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLogLine, prefixed, timeOf } from './log-line.ts'

const plain = { colour: false }

test('a log line becomes one line for a person', () => {
  const line =
    '{"level":"warn","time":"2026-01-02T03:04:05.678Z","service":"api","pid":7,"ms":12,"path":"/keys","who":"a b","message":"slow"}'
  assert.equal(formatLogLine(line, plain), '03:04:05.678 WARN  slow ms=12 path=/keys who="a b"')
})

test('an error shows its stack, and in brief its words alone', () => {
  const stack = 'Error: x\n    at y'
  const line = JSON.stringify({
    level: 'error',
    time: '2026-01-02T03:04:05.678Z',
    error: { type: 'Error', message: 'x', stack },
    message: 'broke',
  })
  assert.match(formatLogLine(line, plain), /broke error=\n {2}Error: x\n {6}at y$/)
  assert.match(formatLogLine(line, { ...plain, brief: true }), /broke error=\n {2}x$/)
})

test('what is no log line stays as it is', () => {
  for (const line of ['', 'plain text', '{broken', '[1]', '"text"', '{"a":'])
    assert.equal(formatLogLine(line, plain), line)
})

test('a log line with fields of unexpected kinds is still shown', () => {
  assert.equal(formatLogLine('{"level":7,"time":null,"message":{"a":1}}', plain).trim(), '')
})

test('only a terminal that has colours gets them', () => {
  const line = '{"level":"info","time":"2026-01-02T03:04:05.678Z","message":"hello"}'
  assert.ok(!prefixed('api', formatLogLine(line, plain), plain).includes('\u001B'))
  assert.ok(
    prefixed('api', formatLogLine(line, { colour: true }), { colour: true }).includes('\u001B[35mapi'),
  )
})

test('the time of a line is known where the line says it', () => {
  assert.equal(timeOf('{"time":"2026-01-02T03:04:05.678Z"}'), '2026-01-02T03:04:05.678Z')
  assert.equal(timeOf('at main.ts:1'), undefined)
})
