import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { problemOf, refusalOf } from '../fixtures/answers.ts'
import { head, rawExchange } from '../fixtures/raw-exchange.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey, unknownToken } from '../fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { token } = await makeKey(pool)
const { url } = await testApi({ databaseUrl })

test('after 20 wrong keys in a minute an address gets 429, while a right key still works from it', async () => {
  const api = await testApi({ databaseUrl })
  const answers: Response[] = []
  for (let i = 0; i < 100; i++) {
    answers.push(await fetch(`${api.url}/keys`, { headers: bearer(unknownToken(i)) }))
  }
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [...Array<number>(20).fill(401), ...Array<number>(80).fill(429)],
  )
  for (const answer of answers.slice(20)) {
    const seconds = Number(answer.headers.get('retry-after'))
    assert.ok(seconds > 0 && seconds <= 60, `Retry-After: ${seconds}`)
  }
  const [first, last] = [answers[0], answers.at(-1)]
  assert(first && last)
  assert.equal(await refusalOf(first), '401 unauthenticated')
  assert.equal(await refusalOf(last), '429 rate_limited')
  const right = await fetch(`${api.url}/keys`, { headers: bearer(token) })
  assert.equal(right.status, 200, 'a cold right key')
  assert.equal((await fetch(`${api.url}/keys`, { headers: bearer(token) })).status, 200, 'and a warm one')
})

test('without a key, or with something else in its place, the answer is 401 and says how to send one', async () => {
  const forms = [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    `Basic ${token}`,
    token,
    `Bearer ${token} x`,
    `Bearer, ${token}`,
  ]
  for (const authorization of forms) {
    const answer = await fetch(
      `${url}/keys`,
      authorization === undefined ? {} : { headers: { authorization } },
    )
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="toolyard"')
    const { code, detail } = await problemOf(answer)
    assert.equal(code, 'unauthenticated', authorization)
    assert.match(detail, /Bearer yk_/)
  }
})

test('two Authorization headers are no key, whichever comes first', async () => {
  const right = `Authorization: Bearer ${token}`
  const wrong = `Authorization: Bearer ${unknownToken(1)}`
  for (const pair of [
    [right, wrong],
    [wrong, right],
    [right, right],
  ]) {
    const answer = await rawExchange(url, head('GET /keys HTTP/1.1', 'Connection: close', ...pair))
    assert.match(answer, /^HTTP\/1\.1 401 /)
  }
})

test('the scheme may be written in any case', async () => {
  for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
    const answer = await fetch(`${url}/keys`, { headers: { authorization: `${scheme} ${token}` } })
    assert.equal(answer.status, 200)
  }
})

test('no way of writing the path or the method leads past the key', async () => {
  const targets = [
    '/keys',
    '//keys',
    '/keys/',
    '/./keys',
    '/docs/../keys',
    '/docs/%2e%2e/keys',
    '/healthz/..%2fkeys',
    '/healthz;/keys',
    '/keys?',
    '/keys#x',
    '/keys%00',
    '/keys%3f',
    '/%6b%65%79%73',
    '/KEYS',
    '/keys/%2e%2e/keys',
    '/metrics',
    '/metrics/',
    '/audit?limit=1',
    'http://localhost/keys',
    'http://healthz/keys',
    'HTTP://localhost/keys',
    'http://localhost:80@healthz/keys',
    '/\\healthz/keys',
    '\\keys',
    'keys',
    '*',
  ]
  const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE', 'PUT', 'PATCH', 'TRACE', 'QUERY']
  const spoofs = [
    'X-HTTP-Method-Override: GET',
    'X-Original-URL: /healthz',
    'X-Rewrite-URL: /healthz',
    'Content-Length: 0',
  ]
  for (const target of targets) {
    for (const method of methods) {
      const answer = await rawExchange(
        url,
        head(`${method} ${target} HTTP/1.1`, 'Connection: close', ...spoofs),
      )
      assert.match(answer, /^HTTP\/1\.1 4(00|01|04) /, `${method} ${target}`)
      assert.doesNotMatch(answer, /"keys"|toolyard_|"entries"/)
    }
  }
})

test('a HEAD request needs the key of its GET, and is answered without a body', async () => {
  const answer = await fetch(`${url}/keys`, { method: 'HEAD', headers: bearer(token) })
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), '')
  assert.equal((await fetch(`${url}/keys`, { method: 'HEAD' })).status, 401)
})

test('where one of several scopes is enough, all of them are named', async () => {
  const { token: poor } = await makeKey(pool, { scopes: ['tools:read'] })
  const answer = await fetch(`${url}/deliveries/msg_x`, { headers: bearer(poor) })
  const { status, code, detail } = await problemOf(answer)
  assert.deepEqual(
    [status, code, detail],
    [403, 'missing_scope', 'This needs a key with the scope webhooks:manage or tools:invoke'],
  )
})
