import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newKeyShape } from '@toolyard/contract/keys'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { bodyOf } from '../fixtures/answers.ts'
import { head, rawExchange } from '../fixtures/raw-exchange.ts'
import type { Line } from '../fixtures/test-api.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey, unknownToken } from '../fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()
const api = await testApi({ databaseUrl })
const { url, events, logText } = api
const { id, token } = await makeKey(pool)

async function ask(
  path: string,
  headers: Record<string, string> = {},
  at = api,
): Promise<{ answer: Response; event: Line }> {
  const answer = await fetch(`${at.url}${path}`, { headers })
  await answer.arrayBuffer()
  const event = await waitUntil('the event of the answer', () =>
    at.events().find((one) => one['request_id'] === answer.headers.get('x-request-id')),
  )
  return { answer, event }
}

test('each request leaves one line that says what became of it', async () => {
  const before = events().length
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      fetch(`${url}/${['keys', 'healthz', 'nothing', 'keys/x'][n % 4]}`, { headers: bearer(token) }),
    ),
  )
  await waitUntil('all lines', () => events().length >= before + answers.length)
  const ids = answers.map((answer) => answer.headers.get('x-request-id'))
  const logged = events()
    .slice(before)
    .map((event) => event['request_id'])
  assert.equal(logged.length, ids.length)
  assert.deepEqual(new Set(logged), new Set(ids))
  assert.equal(new Set(ids).size, 40)

  const { event } = await ask('/keys/x', bearer(token))
  assert.deepEqual(
    { ...event, time: '', pid: 0, request_id: '', trace_id: '', span_id: '', duration_ms: 0 },
    {
      level: 'info',
      time: '',
      service: 'api',
      pid: 0,
      message: 'request',
      request_id: '',
      trace_id: '',
      span_id: '',
      method: 'GET',
      address: '127.0.0.1',
      key_id: id,
      code: 'not_found',
      route: '/keys/:id',
      status: 404,
      duration_ms: 0,
    },
  )
  assert.equal(typeof event['duration_ms'], 'number')
})

test('a probe that finds all well is a line for debugging, and no other request is', async () => {
  const starting = await testApi({ databaseUrl, schemaFits: new Promise(() => {}) })
  const levelOf = async (path: string, at = api) => {
    const { answer, event } = await ask(path, {}, at)
    return [answer.status, event['level']]
  }
  assert.deepEqual(await levelOf('/healthz'), [200, 'debug'])
  assert.deepEqual(await levelOf('/readyz'), [200, 'debug'])
  assert.deepEqual(await levelOf('/openapi.json'), [200, 'info'])
  assert.deepEqual(await levelOf('/healthz/'), [404, 'info'])
  assert.deepEqual(await levelOf('/readyz', starting), [503, 'error'])
  assert.deepEqual(await levelOf('/healthz', starting), [200, 'debug'])
})

test('what cannot be read leaves one line too', async () => {
  const before = events().length
  await rawExchange(url, 'GARBAGE\r\n\r\n')
  await rawExchange(url, head('GET /\\keys HTTP/1.1', 'Connection: close'))
  await waitUntil('both lines', () => events().length >= before + 2)
  assert.deepEqual(
    events()
      .slice(before)
      .map(({ status, code, reason, address }) => [status, code, reason, address]),
    [
      [400, 'malformed_request', 'HPE_INVALID_METHOD', '127.0.0.1'],
      [400, 'malformed_request', 'target', '127.0.0.1'],
    ],
  )
})

test('a caller’s request id is noted when it is a plain word, and never taken for ours', async () => {
  const { answer, event } = await ask('/healthz', { 'x-request-id': 'caller-7' })
  assert.match(answer.headers.get('x-request-id') ?? '', /^req_[0-9a-z]{26}$/)
  assert.equal(event['caller_request_id'], 'caller-7')
  for (const odd of ['x'.repeat(65), '{"level":"error"}', 'a b', '\u00e9', 'a\tb', '<script>']) {
    assert.equal((await ask('/healthz', { 'x-request-id': odd })).event['caller_request_id'], undefined)
  }
})

test('a caller’s trace goes on, with a span of our own', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const { answer, event } = await ask('/healthz', {
    traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    tracestate: 'vendor=value',
  })
  assert.equal(event['trace_id'], traceId)
  assert.equal(event['parent_span_id'], '00f067aa0ba902b7')
  assert.notEqual(event['span_id'], '00f067aa0ba902b7')
  assert.equal(answer.headers.get('traceparent'), `00-${traceId}-${String(event['span_id'])}-01`)
})

test('a trace that is malformed is ignored, and a new one begins', async () => {
  const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const malformed = [
    '',
    'x',
    valid.slice(1),
    `${valid}x`,
    `${valid}, ${valid}`,
    valid.replace('00-', 'ff-'),
    valid.replace('4bf9', '4BFG'),
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
    'x'.repeat(8_000),
  ]
  const traces = new Set<unknown>()
  for (const traceparent of malformed) {
    const { answer, event } = await ask('/healthz', {
      traceparent,
      tracestate: `a=${'b'.repeat(2_000)},,=;\u00ff`,
    })
    assert.equal(answer.status, 200)
    assert.match(String(event['trace_id']), /^[0-9a-f]{32}$/)
    assert.equal(event['parent_span_id'], undefined, traceparent)
    assert.ok((answer.headers.get('traceparent') ?? '').length === 55)
    traces.add(event['trace_id'])
  }
  assert.equal(traces.size, malformed.length)
})

test('nothing that a caller sends can write a line of its own', async () => {
  const count = logText().split('\n').length
  const forged = '%0a{"level":"error","message":"forged"}%0d%0a'
  const { answer } = await ask(`/keys/${forged}?cursor=${forged}`, {
    ...bearer(token),
    'user-agent': '{"message":"forged"}',
    'x-forwarded-for': '{"message":"forged"}',
  })
  assert.equal(answer.status, 404)
  assert.equal(logText().split('\n').length, count + 1)
  assert.doesNotMatch(logText(), /forged/)
})

test('no secret reaches the log, wherever a caller puts it (I6)', async () => {
  const answer = await fetch(`${url}/keys`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ name: token, scopes: ['keys:manage'] }),
  })
  const made = await bodyOf(answer, newKeyShape.strict())
  await ask(`/keys/${token}?key=${token}`, { ...bearer(token), 'x-request-id': token })
  await ask(`/keys?cursor=${token}`, bearer(token))
  await ask('/keys', { authorization: token, cookie: token, traceparent: token, 'x-forwarded-for': token })
  await ask('/keys', { authorization: `Basic ${token}` })
  await ask('/keys', bearer(unknownToken(1)))
  await ask(`/${token}`)
  await rawExchange(url, `${token}\r\n\r\n`)
  await rawExchange(url, head(`GET /\\${token} HTTP/1.1`, 'Connection: close'))
  await fetch(`${url}/keys/${made.id}`, { method: 'DELETE', headers: bearer(made.key) })
  for (const secret of [token, made.key, unknownToken(1)]) {
    assert.ok(!logText().includes(secret.slice(-64)), 'a secret was logged')
  }
  assert.ok(logText().includes(made.id))
})
