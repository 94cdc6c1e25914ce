import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failure, result, success } from '@toolyard/invocations/fixtures/outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const { token } = await makeKey(pool, { scopes: ['tools:invoke', 'invocations:read'] })
await publishTools(pool, [
  newManifest('weather'),
  newManifest('other'),
  newManifest('free', { parameters: {} }),
])
for (const name of ['weather', 'other', 'free']) await buildTool(pool, name)
const worker = await workerHand(pool)

type Options = { token?: string; headers?: Record<string, string> }

const post = (body: unknown, options: Options = {}) =>
  fetch(`${api.url}/tool-calls`, {
    method: 'POST',
    headers: { ...bearer(options.token ?? token), 'content-type': 'application/json', ...options.headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const anyList = z.array(z.record(z.string(), z.unknown()))
const functionCall = (id: string, name: string, given: unknown = { zeta: 'x' }) => ({
  id,
  type: 'function',
  function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
})
const now = { headers: { prefer: 'wait=0' } }

test('the calls of one provider are run, and each is answered with what came of it, in order', async () => {
  const answering = post([functionCall('call_1', 'weather'), functionCall('call_2', 'other')])
  const second = await worker.run('other', failure)
  const first = await worker.run('weather', success)
  assert.deepEqual(await bodyOf(await answering, anyList), [
    { tool_call_id: 'call_1', output: 'sunny', success: true, invocation_id: first },
    {
      tool_call_id: 'call_2',
      output: 'Error: tool_error: no such city',
      success: false,
      error: 'tool_error: no such city',
      invocation_id: second,
    },
  ])
})

test('the blocks of the other provider are answered with blocks that it takes as they are', async () => {
  const common = { topic: 'trip', search_id: 'srch_1' }
  const block = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { zeta: 'x' } }
  const answering = post({ tool_calls: [block, { ...block, id: 'toolu_2', name: 'none' }], ...common })
  const id = await worker.run('weather', success)
  const { results } = await bodyOf(await answering, z.strictObject({ results: anyList }))
  assert.deepEqual(results, [
    { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny', is_error: false },
    {
      type: 'tool_result',
      tool_use_id: 'toolu_2',
      content: 'Error: unknown_tool: Unknown tool: none',
      is_error: true,
    },
  ])
  const { rows } = await pool.query('select topic, search_id from invocations where id = $1', [id])
  assert.deepEqual(rows, [common])
})

test('what is wrong with one call is its own answer, and the others run', async () => {
  const given = [
    functionCall('text', 'weather', '{"zeta": '),
    functionCall('list', 'weather', '[1]'),
    functionCall('fits not', 'weather', { alpha: 0, beta: 1 }),
    { id: 'no function' },
    { id: 'no name', function: { arguments: '{}' } },
    { function: { name: 'weather', arguments: '{}' } },
    { id: 'x'.repeat(201), function: { name: 'weather' } },
    { type: 'tool_use', id: 'no object', name: 'weather', input: 'zeta' },
    null,
    7,
    'weather',
    [],
    functionCall('own', '__proto__'),
    functionCall('works', 'free', ''),
  ]
  const answering = post(given)
  await worker.run('free', success)
  const answers = await bodyOf(await answering, anyList)
  assert.equal(answers.length, given.length)
  const told = answers.map(({ tool_call_id, tool_use_id, success: worked, error, content }) => [
    tool_call_id ?? tool_use_id,
    worked ?? false,
    error ?? content,
  ])
  assert.deepEqual(told, [
    ['text', false, '"function.arguments" must be the text of a JSON object'],
    ['list', false, '"function.arguments" must be a JSON object'],
    [
      'fits not',
      false,
      [
        'invalid_params: The params do not fit the tool',
        '/params/alpha must be at least 1',
        '/params/beta is not a parameter of this tool: did you mean "zeta"?',
        '/params/zeta is required',
      ].join('\n'),
    ],
    ['no function', false, '"function" must be an object with "name" and "arguments"'],
    ['no name', false, '"function.name" must be the name of a tool'],
    ['', false, '"id" must be a text of 1 to 200 characters'],
    ['', false, '"id" must be a text of 1 to 200 characters'],
    ['no object', false, 'Error: "input" must be an object'],
    ...[null, 7, 'weather', []].map(() => ['', false, 'A call must be an object']),
    ['own', false, 'unknown_tool: Unknown tool: __proto__'],
    ['works', true, undefined],
  ])
})

test('arguments that are nested beyond all measure are one answer, too', async () => {
  const deep = `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`
  const [answer] = await bodyOf(await post([functionCall('deep', 'weather', deep)]), anyList)
  assert.equal(answer?.['success'], false)
  assert.match(String(answer?.['error']), /^invalid_params: .*nested too deep/s)
})

test('who does not wish to wait is told which invocation it is, and it goes on', async () => {
  const [answer] = await bodyOf(await post([functionCall('a', 'free', {})], now), anyList)
  const id = String(answer?.['invocation_id'])
  assert.deepEqual(
    [answer?.['success'], answer?.['error']],
    [false, `It has not ended yet (queued): GET /invocations/${id} tells how it stands`],
  )
  assert.equal(await worker.run('free', success), id)
})

test('a preference that says nothing of waiting leaves the wait as it is', async () => {
  const answering = post([functionCall('1', 'weather')], { headers: { prefer: 'return=representation' } })
  await worker.run('weather', success)
  const [answer] = await bodyOf(await answering, anyList)
  assert.equal(answer?.['output'], 'sunny')
})

test('data without a text is what the model reads', async () => {
  const answering = post([functionCall('a', 'free', {})])
  await worker.run('free', {
    kind: 'succeeded',
    result: { ...result, text: '', data: { degrees: 31 } },
  })
  assert.equal((await bodyOf(await answering, anyList))[0]?.['output'], '{"degrees":31}')
})

test('the same request with the same idempotency key is the same invocations', async () => {
  const twice = async () => {
    const answer = await post([functionCall('a', 'free', {}), functionCall('b', 'free', {})], {
      headers: { prefer: 'wait=0', 'idempotency-key': 'turn-7' },
    })
    return (await bodyOf(answer, anyList)).map((one) => one['invocation_id'])
  }
  const first = await twice()
  assert.equal(new Set(first).size, 2)
  assert.deepEqual(await twice(), first)
})

test('a request that is none is refused as a whole, and so is a key without the scope', async () => {
  for (const body of [
    {},
    [],
    { tool_calls: [] },
    'null',
    '1',
    { tool_calls: [functionCall('a', 'free')], x: 1 },
  ])
    assert.equal(await refusalOf(await post(body)), '422 invalid_request', JSON.stringify(body))
  assert.equal(await refusalOf(await post('[')), '400 malformed_request')
  const many = Array.from({ length: 101 }, (_, index) => functionCall(String(index), 'none'))
  assert.equal(await refusalOf(await post(many)), '422 invalid_request')
  assert.equal((await bodyOf(await post(many.slice(1)), anyList)).length, 100)
  const reader = await makeKey(pool, { scopes: ['tools:read'] })
  assert.equal((await problemOf(await post([], { token: reader.token }))).code, 'missing_scope')
})

test('a key that is bound to tools is told of no other', async () => {
  const bound = await makeKey(pool, { scopes: ['tools:invoke'], tools: ['other'] })
  const answer = await post([functionCall('a', 'free', {})], { token: bound.token })
  assert.equal((await bodyOf(answer, anyList))[0]?.['error'], 'unknown_tool: Unknown tool: free')
})
