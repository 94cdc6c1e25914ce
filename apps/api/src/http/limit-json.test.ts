import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { problemOf, refusalOf } from '../fixtures/answers.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey } from '../fixtures/test-keys.ts'
import { namesMax, valuesMax } from './json-room.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const { token } = await makeKey(pool, { scopes: ['keys:manage', 'tools:read', 'tools:invoke'] })

const namesOf = (count: number) => `{${Array.from({ length: count }, (_, index) => `"a${index}":0`).join()}}`
const valuesOf = (count: number) => `[${'0,'.repeat(count - 1)}0]`

const post = (path: string, body: string, own = token) =>
  fetch(url + path, {
    method: 'POST',
    headers: {
      ...bearer(own),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body,
  })

test('a body with too many names or values is refused before anything is made of it, by every route', async () => {
  const [names, values] = [namesOf(namesMax + 1), valuesOf(valuesMax + 1)]
  const message = (meta: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${meta}}}`
  const requests: [string, string][] = [
    ['/mcp', message(names)],
    ['/mcp', message(`{"a":${values}}`)],
    ['/tool-calls', values],
    ['/tools/none/invoke', `{"params":${names}}`],
    ['/invocations/batch', `{"invocations":${values}}`],
    ['/tools/search', `{"query":${values}}`],
    ['/keys', names],
  ]
  for (const [path, body] of requests) {
    const { status, code, detail } = await problemOf(await post(path, body))
    assert.deepEqual([status, code], [413, 'payload_too_large'], path)
    assert.match(detail, /at most 10000 names and 100000 values/)
  }
})

test('as many as may be are read, whatever their texts hold', async () => {
  const texts = JSON.stringify({ text: `{"":[],${'\\"'.repeat(valuesMax)}` })
  for (const params of [namesOf(namesMax - 1), `{"list":${valuesOf(valuesMax - 10)}}`, texts]) {
    const answer = await post('/tools/none/invoke', `{"params":${params}}`)
    assert.equal(await refusalOf(answer), '404 unknown_tool')
  }
  for (const broken of ['"', '"\\', '{"a', '[', ',']) {
    assert.equal(await refusalOf(await post('/keys', broken)), '400 malformed_request', broken)
  }
})

test('who has no key is refused as such', async () => {
  assert.equal(await refusalOf(await post('/keys', namesOf(namesMax + 1), 'none')), '401 unauthenticated')
})
