import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { problemOf, refusalOf } from '../fixtures/answers.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey } from '../fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const { token } = await makeKey(pool)

const post = (body: string | Uint8Array<ArrayBuffer>, type: string | undefined = 'application/json') =>
  fetch(`${url}/keys`, {
    method: 'POST',
    headers: { ...bearer(token), ...(type === undefined ? {} : { 'content-type': type }) },
    body,
  })

async function faultsOf(body: unknown): Promise<Record<string, string>> {
  const problem = await problemOf(await post(JSON.stringify(body)))
  assert.equal(`${problem.status} ${problem.code}`, '422 invalid_request')
  return Object.fromEntries(problem.faults?.map(({ pointer, detail }) => [pointer, detail]) ?? [])
}

test('what is not JSON is refused as malformed', async () => {
  const nested = '['.repeat(90_000)
  for (const text of ['', '{', '{"name":', 'name=x', "{'name':'x'}", '\0', '\u{FEFF}', nested]) {
    assert.equal(await refusalOf(await post(text)), '400 malformed_request', text.slice(0, 20))
  }
})

test('bytes that are no UTF-8 are refused, and end nothing', async () => {
  const answer = await post(new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]))
  assert.equal(await refusalOf(answer), '422 invalid_request')
})

test('another media type is refused and told which one is meant', async () => {
  const body = JSON.stringify({ name: 'x', scopes: ['keys:manage'] })
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
  ]) {
    const problem = await problemOf(await post(body, type))
    assert.equal(`${problem.status} ${problem.code}`, '415 unsupported_media_type', type)
    assert.match(problem.detail, /application\/json/)
  }
  assert.equal((await post(body, 'application/json; charset=utf-8')).status, 201)
})

test('a body without a media type is refused as one', async () => {
  // A Blob without a type, since fetch names one for a text.
  const answer = await fetch(`${url}/keys`, {
    method: 'POST',
    headers: bearer(token),
    body: new Blob(['{}']),
  })
  assert.equal(await refusalOf(answer), '415 unsupported_media_type')
})

test('no body at all lacks the fields that are required', async () => {
  const answer = await fetch(`${url}/keys`, { method: 'POST', headers: bearer(token) })
  const problem = await problemOf(answer)
  assert.equal(problem.code, 'invalid_request')
  assert.deepEqual(problem.faults, [
    { pointer: '/name', detail: 'is required' },
    { pointer: '/scopes', detail: 'is required' },
  ])
})

test('all faults are told at once, each with its pointer and how to mend it', async () => {
  const faults = await faultsOf({
    name: 'tab\there',
    scopes: ['keys:manage', 'everything', 7],
    topics: [],
    tools: ['Bad Tool', 'good'],
    expires_at: 'tomorrow',
    'a/b~c': 1,
    __proto__: { polluted: true },
    owner: 'me',
  })
  assert.match(faults['/scopes/1'] ?? '', /^must be one of tools:read, tools:invoke, /)
  assert.match(faults['/scopes/2'] ?? '', /^must be one of /)
  assert.deepEqual(
    { ...faults, '/scopes/1': '', '/scopes/2': '' },
    {
      '/name': 'control characters are not allowed',
      '/scopes/1': '',
      '/scopes/2': '',
      '/topics': 'must have at least 1 items',
      '/tools/0': 'lower-case letters, digits, - and _, a letter first',
      '/expires_at': 'must be a date and time with its zone, as in 2031-05-17T08:00:00Z',
      '/a~1b~0c': 'is not known here: remove it',
      '/owner': 'is not known here: remove it',
    },
  )
})

test('a body of the wrong kind is pointed at as a whole', async () => {
  for (const body of [null, 7, 'text', [], true]) {
    assert.deepEqual(await faultsOf(body), { '': 'must be an object' })
  }
})

test('a name that would reach the prototype is a field like another', async () => {
  const problem = await problemOf(await post('{"name":"x","scopes":["keys:manage"],"__proto__":{"a":1}}'))
  assert.deepEqual(problem.faults, [{ pointer: '/__proto__', detail: 'is not known here: remove it' }])
})

test('the parameters of a query are checked like a body', async () => {
  for (const [query, pointer, detail] of [
    ['limit=0', '/limit', 'must be at least 1'],
    ['limit=201', '/limit', 'must be at most 200'],
    ['limit=2.5', '/limit', 'must be a whole number'],
    ['limit=many', '/limit', 'must be a number'],
    ['limit=1&limit=2', '/limit', 'must be a number'],
    ['limt=5', '/limt', 'is not known here: remove it'],
    ['cursor=%00', '/cursor', 'must be the next_cursor of the page before'],
    ["cursor=';drop table api_keys", '/cursor', 'must be the next_cursor of the page before'],
  ]) {
    const problem = await problemOf(await fetch(`${url}/keys?${query}`, { headers: bearer(token) }))
    assert.equal(problem.code, 'invalid_request')
    assert.deepEqual(problem.faults, [{ pointer, detail }], query)
  }
})

test('a body of nothing but faults costs neither a long answer nor a long time', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`field-${n}`, n]))
  const bodies = [
    unknown,
    { name: 'x', scopes: Array(90_000).fill(0) },
    { name: 'x', scopes: ['keys:manage'], ['n'.repeat(900_000)]: 1 },
  ]
  for (const body of bodies) {
    const beganAtMs = performance.now()
    const answer = await post(JSON.stringify(body))
    assert.ok(performance.now() - beganAtMs < 1_000, `${performance.now() - beganAtMs} ms`)
    assert.equal(answer.status, 422)
    const length = (await answer.text()).length
    assert.ok(length < 20_000, `${length} characters`)
  }
})
