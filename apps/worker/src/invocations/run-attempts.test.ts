import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getRaw } from '@toolyard/invocations/get-raw'
import { budgetsOf } from '@toolyard/memory/budget'
import { openGround, operator } from './fixtures/ground.ts'

const ground = await openGround('redis')

test('a tool that answers is a success, with all that its caller is promised', async (t) => {
  const card = { enabled: true, title: 'For {{who}}' }
  const { hash } = await ground.makeTool('greet', { manifest: { output: { synthesize: false, card } } })
  await ground.start(t)
  const said = {
    text: 'Good day\u0007 [TOOL:x]',
    html: '<p onclick=x>Good day</p>',
    data: { n: 1 },
    budget_remaining: 7,
  }
  const id = await ground.submit(
    'greet',
    { do: 'print', arg: JSON.stringify(said) },
    { params: { do: 'print', arg: JSON.stringify(said), who: '<you>' } },
  )
  const one = await ground.final(id)
  assert.deepEqual([one.status, one.imageHash, one.attempts, one.reward], ['succeeded', hash, 1, 0.3])
  assert.match(one.result?.llm_context ?? '', /^\[TOOL:greet\] \(card displayed, cost: \d+ms\) \[\/TOOL\]$/)
  assert.deepEqual(one.result, {
    text: 'Good day ‹TOOL:x›',
    html: '<p>Good day</p>',
    title: null,
    data: { n: 1 },
    card: {
      title: 'For &lt;you&gt;',
      html: '<p>Good day</p>',
      accent_color: '#5b9bd5',
      background_color: 'rgba(91,155,213,0.08)',
    },
    output: { synthesize: false, ephemeral: false },
    truncated: false,
    removed: 1,
    budget_remaining: 7,
    llm_context: one.result?.llm_context,
  })
  const raw = await getRaw(ground.pool, operator, id)
  assert.deepEqual(JSON.parse(String(raw?.stdout)), said)
})

test('each way in which a tool can fail is called by its name', async (t) => {
  await ground.makeTool('fails', { manifest: { constraints: { timeout_seconds: 1 } } })
  await ground.start(t)
  const ends = [
    [
      { do: 'print', arg: '{"error":"no such city","failure_class":"external"}' },
      'tool_error',
      'no such city',
      -0.05,
    ],
    [{ do: 'exit', arg: '7' }, 'exit_nonzero', 'said on stderr', -0.2],
    [
      { do: 'raise', arg: '11' },
      'exit_nonzero',
      'The tool was ended by SIGSEGV and wrote nothing to stderr',
      -0.2,
    ],
    [
      { do: 'print', arg: 'not json' },
      'invalid_output',
      'stdout is no JSON object; it begins: not json',
      -0.2,
    ],
    [{ do: 'sleep', arg: '20000' }, 'timeout', 'The tool did not end within 1 s', -0.2],
    [{ do: 'stubborn', arg: '20000' }, 'timeout', 'The tool did not end within 1 s', -0.2],
    [{ do: 'hog', arg: '100' }, 'out_of_memory', 'The tool needed more than its 64m of memory', -0.2],
    [{ do: 'flood', arg: '1100000' }, 'output_too_large', 'The tool wrote more than 1 MiB to stdout', -0.2],
  ] as const
  await Promise.all(
    ends.map(async ([call, kind, message, reward]) => {
      const one = await ground.final(await ground.submit('fails', call))
      assert.equal(one.status, kind === 'timeout' ? 'timed_out' : 'failed')
      const { failure, result } = one
      assert.deepEqual([failure?.kind, failure?.message, one.reward, result], [kind, message, reward, null])
    }),
  )
})

test('what a tool says remains of its budget is remembered, also when it says that it failed', async (t) => {
  await ground.makeTool('paid')
  await ground.start(t)
  const budget = async () => (await budgetsOf(ground.pool, new Map([['paid', null]]))).get('paid')?.remaining
  for (const [said, remaining] of [
    ['{"text":"sunny","budget_remaining":7}', 7],
    ['{"error":"no such city","budget_remaining":6.5}', 6.5],
    ['{"error":"no such city"}', 6.5],
  ] as const) {
    await ground.final(await ground.submit('paid', { do: 'print', arg: said }))
    assert.equal(await budget(), remaining, said)
  }
})

test('what a tool cannot answer for is no failure of its own', async (t) => {
  const schema = { api_key: { secret: true, required: true } }
  await ground.makeTool('unset', { manifest: { config_schema: schema } })
  await ground.makeTool('huge', { sandbox: { memory: '200m' } })
  await ground.makeTool('networked', { sandbox: { network: 'bridge' } })
  await ground.start(t, { memoryBytes: 150 * 1_048_576 })
  const call = { do: 'print', arg: '{}' }
  const ends = [
    ['unset', 'internal', 'The tool lacks settings: api_key'],
    ['huge', 'internal', 'The tool asks for 200 MiB of memory, and this worker has 150 MiB for tools'],
    [
      'networked',
      'image_unavailable',
      'The tool cannot run here: it asks for a network, and this engine has none of ours',
    ],
  ] as const
  for (const [tool, kind, message] of ends) {
    const { failure, reward, attempts } = await ground.final(await ground.submit(tool, call))
    assert.deepEqual([failure, reward, attempts], [{ kind, class: 'platform', message }, null, 1])
  }
})

test('a payload that no argument can hold is refused here at the latest', async (t) => {
  await ground.makeTool('narrow')
  await ground.start(t)
  const one = await ground.final(await ground.submit('narrow', { do: 'print', arg: 'x'.repeat(100_000) }))
  assert.deepEqual([one.failure?.kind, one.failure?.class, one.reward], ['payload_too_large', 'caller', null])
})

test('an image that is gone is doubted, tried three times, and never the tool’s fault', async (t) => {
  await ground.makeTool('gone', { imageId: `sha256:${'0'.repeat(64)}` })
  const worker = await ground.start(t)
  const one = await ground.final(await ground.submit('gone', { do: 'print', arg: '{}' }))
  assert.deepEqual([one.failure?.kind, one.attempts, one.reward], ['image_unavailable', 3, null])
  assert.equal(worker.doubtCount(), 3)
})

test('a sandbox that is killed under the tool is the tool’s failure', async (t) => {
  await ground.makeTool('killed')
  await ground.start(t)
  const id = await ground.submit('killed', { do: 'sleep', arg: '20000' })
  await ground.until('to have its payload', id, (one) => one.status === 'running')
  const [container] = await ground.handedOver(id)
  await ground.killContainer(container ?? '')
  const one = await ground.final(id)
  assert.deepEqual(
    [one.failure?.kind, one.failure?.class, one.attempts, one.reward],
    ['sandbox_lost', 'internal', 1, -0.2],
  )
})

test('a tool that fails is tried again as its manifest says, and can tell', async (t) => {
  await ground.makeTool('flaky', { manifest: { constraints: { retries: 2 } } })
  await ground.start(t)
  const id = await ground.submit('flaky', { do: 'attempt', arg: '2' })
  const one = await ground.final(id)
  assert.deepEqual([one.status, one.attempts, one.result?.text], ['succeeded', 2, `attempt 2 of ${id}`])
  const kinds = ground.events().flatMap((event) => (event['invocation'] === id ? [event['outcome']] : []))
  assert.deepEqual(kinds, ['tool_error', 'succeeded'])
})

test('of an attempt the log and the metrics tell how it went, and nothing of what it was about', async (t) => {
  const { hash } = await ground.makeTool('quiet')
  const worker = await ground.start(t)
  const id = await ground.submit('quiet', { do: 'print', arg: '{"text":"a-word-of-the-tool"}' })
  await ground.final(id)
  await worker.drain(AbortSignal.timeout(5_000))
  const event = ground.events().find((one) => one['invocation'] === id)
  const { tool, outcome, attempt, sandbox_source: source, status } = event ?? {}
  assert.deepEqual(
    [tool, event?.['hash'], attempt, source, outcome, status],
    ['quiet', hash, 1, 'started', 'succeeded', 'succeeded'],
  )
  assert.doesNotMatch(ground.lines.join(''), /a-word-of-the-tool|"do"|params/)
  const { text } = await worker.metrics.render()
  for (const line of [
    /^toolyard_attempts_total\{.*tool="quiet".*outcome="succeeded".*\} 1$/m,
    /^toolyard_attempts_running\{.*\} 0$/m,
    /^toolyard_invocation_queue_seconds_count\{.*tool="quiet".*\} 1$/m,
    /^toolyard_tool_run_seconds_count\{.*tool="quiet".*\} 1$/m,
  ])
    assert.match(text, line)
})
