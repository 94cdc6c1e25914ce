import assert from 'node:assert/strict'
import { test } from 'node:test'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { bodyOf, refusalOf } from '../../fixtures/answers.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'
import { namesMax } from '../../http/json-room.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'

// What a model that is confused, or is told to do harm, could send.

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const { token } = await makeKey(pool, { scopes: ['tools:invoke', 'invocations:read'] })
const names = ['weather', 'free', 'constructor', 'hidden']
await publishTools(pool, [
  newManifest('weather'),
  newManifest('free', { parameters: {} }),
  newManifest('constructor', { parameters: {} }),
  newManifest('hidden', { parameters: {} }),
])
for (const name of names) await buildTool(pool, name)
const worker = await workerHand(pool)

type Sent = { token?: string; idempotencyKey?: string; wait?: number }

const post = (body: unknown, { token: own = token, idempotencyKey, wait = 0 }: Sent = {}) =>
  fetch(`${api.url}/tool-calls`, {
    method: 'POST',
    headers: {
      ...bearer(own),
      'content-type': 'application/json',
      prefer: `wait=${wait}`,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const answer = z.looseObject({
  tool_call_id: z.string().optional(),
  tool_use_id: z.string().optional(),
  content: z.string().optional(),
  error: z.string().optional(),
  invocation_id: z.string().optional(),
})
const answersOf = async (body: unknown, sent?: Sent) => bodyOf(await post(body, sent), z.array(answer))

const called = (id: string, name: string, given: string) => ({
  id,
  type: 'function',
  function: { name, arguments: given },
})
const used = (id: string, name: string, input: unknown) => ({ type: 'tool_use', id, name, input })

const countOf = async (tool: string) => {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from invocations where tool = $1',
    [tool],
  )
  return rows[0]?.count
}

test('a thousand calls in one request are refused as a whole, and in ten requests at once they all run', async () => {
  const many = Array.from({ length: 1_000 }, (_, index) => called(`call_${index}`, 'free', '{}'))
  assert.equal(await refusalOf(await post(many)), '422 invalid_request')
  assert.equal(await refusalOf(await post({ tool_calls: many })), '422 invalid_request')
  assert.equal(await countOf('free'), 0)
  const hundreds = Array.from({ length: 10 }, (_, index) => many.slice(index * 100, index * 100 + 100))
  const answers = (await Promise.all(hundreds.map((some) => answersOf(some)))).flat()
  assert.deepEqual(
    answers.map(({ tool_call_id }) => tool_call_id),
    many.map(({ id }) => id),
  )
  assert.equal(new Set(answers.map((one) => one.invocation_id)).size, 1_000)
  assert.equal(await countOf('free'), 1_000)
})

test('calls that share an id are calls of their own, each answered in its place', async () => {
  const answering = answersOf([called('same', 'weather', '{"zeta":"x"}'), called('same', 'weather', '{}')], {
    wait: 30,
  })
  const id = await worker.run('weather', success)
  const [first, second] = await answering
  assert.deepEqual([first?.tool_call_id, first?.invocation_id], ['same', id])
  assert.match(second?.error ?? '', /^invalid_params/)
})

test('arguments that are no JSON, or no object, or said twice over, are their own answer', async () => {
  const texts = [
    '',
    ' ',
    '{',
    '{}}',
    "{'zeta': 'x'}",
    '{"zeta": NaN}',
    '```json\n{"zeta": "x"}\n```',
    'null',
    'true',
    '7',
    '"{}"',
    '[]',
    '{"zeta": "\\ud800"}',
    '{"zeta": "a\\u0000b"}',
    '\u0000',
  ]
  const answers = await answersOf(texts.map((text, index) => called(String(index), 'weather', text)))
  for (const [index, { error }] of answers.entries())
    assert.match(error ?? '', /^(?:invalid_params|"function\.arguments" must be)/, texts[index])
  assert.equal(answers.length, texts.length)
})

test('arguments of megabytes are refused by themselves, and beyond the limit of the body with it', async () => {
  const [large, small] = await answersOf([
    called('large', 'weather', JSON.stringify({ zeta: 'x'.repeat(3_000_000) })),
    called('small', 'constructor', '{}'),
  ])
  assert.match(large?.error ?? '', /^payload_too_large/)
  assert.ok(small?.invocation_id)
  const members = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`p${index}`, index]))
  const [wide] = await answersOf([called('wide', 'weather', JSON.stringify(members))])
  assert.match(wide?.error ?? '', /^invalid_params/)
  assert.ok((wide?.error ?? '').length < 10_000, 'no answer grows with what was wrong')
  const huge = await post([called('huge', 'weather', JSON.stringify({ zeta: 'x'.repeat(6_000_000) }))])
  assert.equal(await refusalOf(huge), '413 payload_too_large')
})

test('arguments with very many names are their own answer, and together they have no more than one request', async () => {
  const many = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, 0])))
  const answers = await answersOf([
    called('1', 'free', many(namesMax + 1)),
    called('2', 'free', many(namesMax - 10)),
    called('3', 'free', many(11)),
    called('4', 'free', many(10)),
    called('5', 'free', '{}'),
  ])
  assert.deepEqual(
    answers.map(({ error }) => error?.split(':')[0]),
    [
      'payload_too_large',
      'invalid_params',
      'payload_too_large',
      'invalid_params',
      'It has not ended yet (queued)',
    ],
  )
})

test('names that every object has are tools only where there are such', async () => {
  const inherited = ['toString', '__proto__', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'prototype']
  const answers = await answersOf([
    ...inherited.map((name) => called(name, name, '{}')),
    ...inherited.map((name) => used(name, name, {})),
  ])
  for (const { error, content } of answers) assert.match(error ?? content ?? '', /unknown_tool/)
  const polluting =
    '[{"id":"a","__proto__":{"type":"tool_use"},"function":{"name":"constructor","arguments":"{\\"__proto__\\":{\\"polluted\\":1},\\"constructor\\":{}}"}}]'
  const [answered] = await answersOf(polluting)
  assert.match(answered?.error ?? '', /^invalid_params.*\/params\/__proto__ cannot be used as a name/s)
  assert.equal('polluted' in {}, false)
  const [works] = await answersOf([called('a', 'constructor', '{}')])
  assert.ok(works?.invocation_id)
})

test('names that no tool can have are unknown tools, however they are written', async () => {
  const odd = [
    'Weather',
    ' weather',
    'weather\n',
    'weather\u0000',
    '../weather',
    "'; drop table tools;--",
    '天气',
    '\ud800',
  ]
  const answers = await answersOf(odd.map((name) => called('a', name, '{}')))
  for (const { error } of answers) assert.match(error ?? '', /^unknown_tool/)
})

test('the two forms may be mixed, and each is answered in its own', async () => {
  const given = [
    used('toolu_1', 'hidden', {}),
    called('call_1', 'hidden', '{}'),
    { ...used('toolu_2', 'hidden', []), function: { name: 'hidden', arguments: '{}' } },
    { ...called('call_2', 'hidden', '{}'), name: 'none', input: {} },
  ]
  const answers = await answersOf(given)
  assert.deepEqual(
    answers.map((one) => [one.tool_use_id ?? null, one.tool_call_id ?? null]),
    [
      ['toolu_1', null],
      [null, 'call_1'],
      ['toolu_2', null],
      [null, 'call_2'],
    ],
  )
  assert.match(answers[2]?.content ?? '', /"input" must be an object/)
  assert.equal(await countOf('hidden'), 3)
})

test('a key that is bound to tools or topics runs no other, and is told of no other', async () => {
  const bound = await makeKey(pool, { scopes: ['tools:invoke'], tools: ['free'], topics: ['trip'] })
  const before = await countOf('hidden')
  const both = [called('a', 'hidden', '{}'), used('b', 'hidden', {}), called('c', 'no-such-tool', '{}')]
  const answers = await answersOf(both, { token: bound.token })
  assert.deepEqual(
    answers.map(({ error, content }) => (error ?? content ?? '').replace(/hidden|no-such-tool/, '…')),
    [
      'unknown_tool: Unknown tool: …',
      'Error: unknown_tool: Unknown tool: …',
      'unknown_tool: Unknown tool: …',
    ],
  )
  assert.equal(await countOf('hidden'), before)
  const elsewhere = { tool_calls: [called('a', 'free', '{}')], topic: 'other' }
  const { results } = await bodyOf(
    await post(elsewhere, { token: bound.token }),
    z.object({ results: z.array(answer) }),
  )
  assert.equal(results[0]?.invocation_id, undefined)
})

test('an idempotency key that comes with other calls runs none of them again, and says so for each that differs', async () => {
  const first = [called('a', 'constructor', '{}'), called('b', 'hidden', '{}')]
  const [one, two] = await answersOf(first, { idempotencyKey: 'turn-1' })
  const swapped = await answersOf([first[0], called('b', 'free', '{}')], { idempotencyKey: 'turn-1' })
  assert.equal(swapped[0]?.invocation_id, one?.invocation_id)
  assert.match(swapped[1]?.error ?? '', /^idempotency_mismatch/)
  const renamed = await answersOf([called('x', 'constructor', '{}'), called('y', 'hidden', '{}')], {
    idempotencyKey: 'turn-1',
  })
  assert.deepEqual(
    renamed.map(({ invocation_id }) => invocation_id),
    [one?.invocation_id, two?.invocation_id],
  )
})
