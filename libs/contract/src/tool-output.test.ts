import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataBytesMax, parseToolOutput } from './tool-output.ts'

const ended = { code: 0 }
const success = { status: 'success', text: null, html: null, title: null }
const parse = (output: unknown, code = 0) => parseToolOutput(JSON.stringify(output), { code }, '')

function failed(stdout: Buffer | string, code: number | null = 0, stderr = '') {
  const outcome = parseToolOutput(stdout, { code }, stderr)
  assert.ok(outcome.status === 'failure', JSON.stringify(outcome))
  return outcome
}

test('everything that a tool may say is taken, and what is not known is left', () => {
  const said = {
    text: 'Hello',
    html: '<p>',
    title: 'T',
    data: { a: [1] },
    budget_remaining: 7.5,
    notify: false,
    priority: 'low',
    _state: { n: 1 },
    error: null,
    other: 1,
  }
  assert.deepEqual(parse(said), {
    status: 'success',
    text: 'Hello',
    html: '<p>',
    title: 'T',
    data: { a: [1] },
    budget_remaining: 7.5,
    notify: false,
    priority: 'low',
    state: { n: 1 },
  })
  assert.deepEqual(parse({}), success)
  assert.deepEqual(
    parse({ text: null, data: null, notify: null, priority: null, budget_remaining: null }),
    success,
  )
})

test('stdout may be bytes, with a mark of their order, in many lines', () => {
  const pretty = JSON.stringify({ text: 'ü\n' }, null, 2)
  assert.deepEqual(parseToolOutput(Buffer.from(`\u{feff}${pretty}\n`), ended, ''), {
    ...success,
    text: 'ü\n',
  })
})

test('where stdout as a whole is no JSON, the last line that is an object counts', () => {
  for (const stdout of [
    'starting\n{"text":"a"}\n',
    '{"text":"b"}\n{"text":"a"}\ndone',
    '{"text":"a"}\r\n{broken}\n[1]\n\n',
    '\n{"text":"a"}\nx',
    '{"text":"b"}\n  {"text":"a"}  ',
  ])
    assert.deepEqual(parseToolOutput(stdout, ended, ''), { ...success, text: 'a' }, stdout)
})

test('an error is a failure with that message, whatever the exit code and whatever else is said', () => {
  for (const code of [0, 1]) {
    const failure = parse(
      { error: ' no key ', text: 5, html: '<p>', failure_class: 'external', budget_remaining: 0 },
      code,
    )
    assert.deepEqual(failure, {
      status: 'failure',
      kind: 'tool_error',
      failure_class: 'external',
      message: 'no key',
      budget_remaining: 0,
    })
  }
  assert.equal(failed('log\n{"error":"x","failure_class":"EXTERNAL"}', 3).failure_class, 'internal')
})

test('an error that is no text is told as it stands, and an empty one is a failure too', () => {
  assert.equal(failed('{"error":{"code":7}}').message, '{"code":7}')
  assert.equal(failed('{"error":true}').message, 'true')
  assert.equal(failed('{"error":""}').message, 'The tool reported an error without a message')
  assert.deepEqual(parse({ error: false }), success)
  const deep = `{"error":${'['.repeat(400_000)}${']'.repeat(400_000)}}`
  assert.equal(failed(deep).message, 'The tool reported an error that is no text')
})

test('another exit code is a failure with what stderr ends with', () => {
  const failure = failed('{"text":"half"}', 2, 'Traceback\nValueError: x\n')
  assert.deepEqual([failure.kind, failure.message], ['exit_nonzero', 'Traceback\nValueError: x'])
  assert.equal(failed('', 2).message, 'The tool exited with code 2 and wrote nothing to stderr')
  assert.equal(failed('', null).message, 'The tool was ended by a signal and wrote nothing to stderr')
  const killed = parseToolOutput('{"text":"x"}', { code: null, signal: 'SIGSEGV' }, ' ')
  assert.ok(killed.status === 'failure' && killed.message.includes('SIGSEGV'))
})

test('a stdout without an object is told with its beginning', () => {
  assert.equal(failed(' \n').message, 'The tool wrote nothing to stdout: it must write one JSON object')
  for (const stdout of ['hello', '[1]', '"x"', '3', 'null', '{"text":', "{'text':'a'}"]) {
    const failure = failed(stdout)
    assert.equal(failure.kind, 'invalid_output')
    assert.equal(failure.message, `stdout is no JSON object; it begins: ${stdout}`)
  }
  assert.ok(failed('x'.repeat(2 ** 20)).message.length < 300)
})

test('a known member of a wrong type is named', () => {
  const wrong = {
    text: 5,
    html: ['<p>'],
    title: {},
    budget_remaining: '7',
    notify: 'no',
    priority: 'urgent',
  }
  for (const [name, value] of Object.entries(wrong)) {
    const failure = failed(JSON.stringify({ [name]: value }))
    assert.equal(failure.kind, 'invalid_output')
    assert.ok(failure.message.startsWith(`"${name}" must be `), failure.message)
  }
  assert.match(failed('{"budget_remaining":1e999}').message, /budget_remaining/)
})

test('data and state have their limits, to the byte', () => {
  const exact = 'x'.repeat(dataBytesMax - 2)
  assert.deepEqual(parse({ data: exact }), { ...success, data: exact })
  for (const data of [
    `${exact}x`,
    'ü'.repeat(32_000),
    Array.from({ length: 40_000 }, () => 0),
    '\u0001'.repeat(11_000),
  ])
    assert.equal(failed(JSON.stringify({ data })).message, '"data" must have at most 64000 bytes as JSON')
  const state = JSON.stringify({ _state: 'x'.repeat(20_000) })
  assert.equal(failed(state).message, '"_state" must have at most 12288 bytes as JSON')
  assert.equal(parseToolOutput(state, ended, '', 'stdin').status, 'success')
  const deep = `{"data":${'['.repeat(500_000)}${']'.repeat(500_000)}}`
  assert.equal(failed(deep).message, '"data" is nested too deep: at most 64 levels')
})

test('nothing that Postgres refuses is left in what comes back', () => {
  const bad = '\\u0000\\ud800'
  const outcome = parseToolOutput(
    `{"text":"a${bad}","data":{"k${bad}":["${bad}",1e999]},"_state":"${bad}"}`,
    ended,
    '',
  )
  const mended = '\u{fffd}\u{fffd}'
  assert.deepEqual(outcome, {
    ...success,
    text: `a${mended}`,
    data: { [`k${mended}`]: [mended, null] },
    state: mended,
  })
  assert.equal(failed(`{"error":"${bad}"}`).message, mended)
  assert.equal(failed('', 1, 'a\0b').message, 'a\u{fffd}b')
})

test('names of the language in the output touch nothing', () => {
  const outcome = parseToolOutput(
    '{"__proto__":{"error":"x","text":"y"},"data":{"__proto__":{"z":1}}}',
    ended,
    '',
  )
  assert.ok(outcome.status === 'success' && outcome.text === null)
  assert.equal(JSON.stringify(outcome.data), '{"__proto__":{"z":1}}')
  assert.ok(!('z' in {}))
})

// What costs more than it should costs minutes: the time limit is for that, and for nothing else.
test('a megabyte of anything is read in time that grows with it alone', { timeout: 120_000 }, () => {
  for (const line of ['{', '{x}', '{"a":}', '{"', '}', ' ', '', '{"a":1}x', '[', '{}\u{0}']) {
    const stdout = `${line}\n`.repeat(Math.floor(2 ** 20 / (line.length + 1)))
    assert.equal(failed(stdout).kind, 'invalid_output')
  }
})
