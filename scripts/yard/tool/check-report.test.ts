import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome, TakeFailure } from '@toolyard/sandbox/outcome'
import { Failure } from '../../services/terminal/failure.ts'
import { checkLines } from './check-lines.ts'
import { describeTrial } from './check-report.ts'
import { someOutcome, someTool } from './fixtures/some-tool.ts'
import { createPaint } from '../text/paint.ts'
import { preparePayload } from './prepare-payload.ts'
import type { Tried } from './try-on-engine.ts'

const steering = /(?!\n)[\p{Cc}\u202e]/u
const paint = createPaint({}, {})
const time = '2026-01-01T00:00:00.000Z'

function reportOf(outcome: Outcome | TakeFailure, { tool = someTool(), settings = {} } = {}) {
  const prepared = preparePayload(tool.manifest, { settings, time })
  assert(prepared.kind === 'prepared', JSON.stringify(prepared))
  const tried: Tried = {
    build: { kind: 'built', ms: 1_234, bytes: 10_485_760, warnings: [] },
    run: { startMs: 200, outcome, hasNetwork: false },
  }
  return { tool: 'greet', dir: '/tools/greet', ...describeTrial({ tool, prepared, tried }) }
}

test('a run that went well is told with its output, its measures and its line for the model', () => {
  assert.deepEqual(checkLines(reportOf(someOutcome()), paint), [
    'greet  /tools/greet',
    '✓ manifest',
    '✓ build  1.2 s, an image of 10.0 MiB',
    '✓ run  40 ms of 9.0 s, 4.0 MiB of 256.0 MiB memory, exit code 0 (its sandbox took 200 ms to start, before that)',
    '  with params',
    '    {"name":"Ada"}',
    '  output',
    '    {\n      "text": "Hello"\n    }',
    '  what the model is told',
    '    [TOOL:greet] Hello (cost: 40ms, ~2 tokens) [/TOOL]',
    'It works.',
  ])
})

test('what sanitising takes away is named, and what the tool gave is shown beside it', () => {
  const stdout = Buffer.from(
    JSON.stringify({ text: 'a ACTION:delete b', html: '<script>1</script><b>c</b>' }),
  )
  const { ok, run } = reportOf(someOutcome({ stdout }))
  assert(ok && run !== undefined)
  assert.match(JSON.stringify(run.output), /ACTION:delete/)
  assert.doesNotMatch(run.llm_context ?? '', /ACTION/)
  assert(
    run.changes?.some((change) => /^text: .*directive/.test(change)),
    String(run.changes),
  )
  assert(
    run.changes?.some((change) => /^html: .*script/.test(change)),
    String(run.changes),
  )
})

test('a secret that was given for the check is in nothing that the check says', () => {
  const secret = 'hunter22-hunter22'
  const tool = someTool({ config_schema: { token: { secret: true } } })
  const stdout = Buffer.from(JSON.stringify({ text: `t ${secret}`, data: { secret }, title: secret }))
  const noisy = { stderrTail: Buffer.from(`using ${secret}\n`) }
  const endings = [
    someOutcome({ stdout, ...noisy }),
    someOutcome({ stdout: Buffer.from(JSON.stringify({ error: secret })), ...noisy }),
    someOutcome({ code: 1, stdout: Buffer.alloc(0), ...noisy }),
  ]
  for (const outcome of endings) {
    const report = reportOf(outcome, { tool, settings: { token: secret } })
    assert(!JSON.stringify(report).includes(secret), JSON.stringify(report))
    assert(!checkLines(report, paint).join('\n').includes(secret))
  }
})

test('each way to fail is told as what it is, with the limit that was met', () => {
  const { kind: _, code: __, ...heard } = { code: 0, ...someOutcome() }
  const endings: [Outcome | TakeFailure, string, RegExp][] = [
    [someOutcome({ code: 3, stderrTail: Buffer.from('no jq\n') }), 'exit_nonzero', /no jq/],
    [someOutcome({ stdout: Buffer.from('{"error":"no city"}') }), 'tool_error', /no city/],
    [someOutcome({ stdout: Buffer.from('hello') }), 'invalid_output', /hello/],
    [{ ...heard, kind: 'timed_out' }, 'timeout', /9 s/],
    [{ ...heard, kind: 'out_of_memory' }, 'out_of_memory', /256m/],
    [{ ...heard, kind: 'output_too_large' }, 'output_too_large', /1 MiB/],
    [
      { kind: 'start_failed', reason: 'entrypoint', detail: 'no such file' },
      'image_unavailable',
      /no such file/,
    ],
  ]
  for (const [outcome, failure, message] of endings) {
    const { ok, run } = reportOf(outcome)
    assert.equal(ok, false)
    assert.equal(run?.failure?.kind, failure)
    assert.match(run?.failure?.message ?? '', message)
    assert.match(run?.llm_context ?? '', /^\[TOOL:greet\] Error: /)
  }
})

test('the fault of an engine is not told as the fault of the tool', () => {
  const lost = { kind: 'start_failed', reason: 'engine', detail: 'no space left' } as const
  assert.throws(() => reportOf(lost), Failure)
})

test('a tool that speaks to the terminal is heard as text', () => {
  const evil = '\u001b[2J\u202e\r'
  const tool = someTool({ examples: [{ description: 'x', params: { name: 'Ada' } }] })
  const outcomes = [
    someOutcome({
      stdout: Buffer.from(JSON.stringify({ text: evil, data: [evil] })),
      stderrTail: Buffer.from(evil),
    }),
    someOutcome({ stdout: Buffer.from(JSON.stringify({ error: evil })), stderrTail: Buffer.from(evil) }),
  ]
  for (const outcome of outcomes)
    for (const line of checkLines(reportOf(outcome, { tool }), paint)) assert.doesNotMatch(line, steering)
  const broken = {
    tool: evil,
    dir: evil,
    ok: false,
    faults: [evil],
    hints: [evil],
    build: { ms: 1, error: evil },
  }
  for (const line of checkLines(broken, paint)) assert.doesNotMatch(line, steering)
})
