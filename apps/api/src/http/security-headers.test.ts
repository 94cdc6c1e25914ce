import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { head, rawExchange } from '../fixtures/raw-exchange.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey } from '../fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const { token } = await makeKey(pool)

const onEveryAnswer = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
const onData = {
  ...onEveryAnswer,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

function assertHeaders(headers: Headers, expected: Record<string, string>, what: string): void {
  for (const [name, value] of Object.entries(expected))
    assert.equal(headers.get(name), value, `${what}: ${name}`)
  assert.match(headers.get('x-request-id') ?? '', /^req_[0-9a-z]{26}$/, what)
  for (const name of ['strict-transport-security', 'x-powered-by', 'server', 'access-control-allow-origin']) {
    assert.equal(headers.get(name), null, `${what}: ${name}`)
  }
}

test('every answer has the security headers, whatever became of the request', async () => {
  const json = { ...bearer(token), 'content-type': 'application/json' }
  const requests: [status: number, path: string, init?: RequestInit][] = [
    [200, '/healthz'],
    [200, '/readyz'],
    [200, '/openapi.json'],
    [200, '/keys', { headers: json }],
    [200, '/keys', { headers: json, method: 'HEAD' }],
    [401, '/keys'],
    [403, '/metrics', { headers: json }],
    [404, '/keys/x', { headers: json }],
    [404, '/nothing'],
    [404, '/keys', { headers: { origin: 'http://evil.example' }, method: 'OPTIONS' }],
    [400, '/keys', { headers: json, method: 'POST', body: '{' }],
    [413, '/keys', { headers: json, method: 'POST', body: Buffer.alloc(2_000_000) }],
    [415, '/keys', { headers: bearer(token), method: 'POST', body: 'x' }],
    [422, '/keys', { headers: json, method: 'POST', body: '{}' }],
  ]
  for (const [status, path, init] of requests) {
    const answer = await fetch(`${url}${path}`, init)
    await answer.arrayBuffer()
    assert.equal(answer.status, status, path)
    assertHeaders(answer.headers, onData, `${status} ${path}`)
  }
})

test('the page has a policy of its own and the other headers', async () => {
  for (const path of ['/docs', '/docs/start.js', '/docs/swagger-ui.css']) {
    const answer = await fetch(`${url}${path}`)
    await answer.arrayBuffer()
    assertHeaders(answer.headers, { ...onEveryAnswer, 'cache-control': 'public, max-age=3600' }, path)
  }
})

test('an expectation that is not known is no reason for an answer of another kind', async () => {
  const answer = await rawExchange(
    url,
    head('GET /healthz HTTP/1.1', 'Expect: a-miracle', 'Connection: close'),
  )
  assert.match(answer, /^HTTP\/1\.1 200 [^]*x-content-type-options: nosniff/)
})

test('a request that cannot even be read is answered with them', async () => {
  for (const [status, request] of [
    [400, 'GARBAGE\r\n\r\n'],
    [400, head('GET /\\keys HTTP/1.1')],
    [400, 'GET /healthz HTTP/1.1\r\n\r\n'],
    [431, head('GET / HTTP/1.1', `X-Large: ${'x'.repeat(20_000)}`)],
  ] as const) {
    const answer = await rawExchange(url, request, head('GET /healthz HTTP/1.1', 'Connection: close'))
    const [first = ''] = answer.split('\r\n\r\n')
    assert.ok(first.startsWith(`HTTP/1.1 ${status} `), first)
    const lines = first.split('\r\n').slice(1)
    const headers = new Headers(
      lines.map((line): [string, string] => {
        const at = line.indexOf(': ')
        return [line.slice(0, at), line.slice(at + 2)]
      }),
    )
    assertHeaders(headers, onData, request.slice(0, 30))
    assert.equal(headers.get('content-type'), 'application/problem+json')
  }
})
