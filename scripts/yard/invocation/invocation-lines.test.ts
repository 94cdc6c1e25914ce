import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invocationShape } from '@toolyard/contract/invocations'
import { invocationLines } from './invocation-lines.ts'
import { createPaint } from '../text/paint.ts'

const paint = createPaint({}, {})
const at = '2026-01-01T00:00:00.000Z'
const links = { self: '', events: '', cancel: '', replay: '', feedback: '' }
const told = { id: 'inv_1', tool: 'greet', tool_version: '1.0', image_hash: 'ab', topic: 't', attempts: 1 }
const times = { created_at: at, started_at: null, finished_at: null, queue_ms: null, duration_ms: null }
const shape = (more: object) =>
  invocationShape.parse({
    ...told,
    ...times,
    status: 'succeeded',
    reward: null,
    metadata: null,
    links,
    ...more,
  })
const output = { synthesize: true, ephemeral: false }

test('a call that succeeded is told with its text, and with what was cut from it', () => {
  const result = {
    text: 'Hello\nAda',
    title: 'Hi',
    html: '<b>ü</b>',
    data: { a: 1 },
    truncated: true,
    removed: 3,
    output,
    llm_context: '',
  }
  assert.deepEqual(invocationLines(shape({ duration_ms: 12.4, queue_ms: 3, result }), paint), [
    'succeeded  ran 12 ms  waited 3 ms  inv_1',
    'Hi',
    'Hello\nAda',
    'data:',
    '  {\n    "a": 1\n  }',
    'card: 9 bytes of HTML',
    'The text was cut to its limit, and lost 3 characters',
  ])
})

test('a call that failed is told with its reason, and neither steers the terminal', () => {
  const failure = {
    kind: 'tool_error',
    class: 'internal',
    message: 'no\u001b[2J',
    exit_code: 3,
    stderr_tail: 'a\nb\u009b1m',
  }
  assert.deepEqual(invocationLines(shape({ status: 'failed', failure }), paint), [
    'failed  inv_1',
    'tool_error (exit code 3): no\\u{1b}[2J',
    'stderr:',
    '  a\n  b\\u{9b}1m',
  ])
})
