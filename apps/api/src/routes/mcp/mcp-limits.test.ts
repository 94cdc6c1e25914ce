import assert from 'node:assert/strict'
import { test } from 'node:test'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { problemOf } from '../../fixtures/answers.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'

// What a client could send to use up the process, or its log.

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const scopes = ['tools:read', 'tools:invoke', 'invocations:read'] as const
const { token } = await makeKey(pool, { scopes: [...scopes] })
const tools = ['weather', 'crowded']
await publishTools(
  pool,
  tools.map((name) => newManifest(name, { parameters: {} })),
)
for (const name of tools) await buildTool(pool, name)
const worker = await workerHand(pool)

type Sent = { token?: string; headers?: Record<string, string> }

const post = (body: unknown, { token: own = token, headers = {} }: Sent = {}) =>
  fetch(`${api.url}/mcp`, {
    method: 'POST',
    headers: {
      ...bearer(own),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const rpc = (method: string, params: object = {}, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const call = (id: unknown, name = 'weather', meta: object = {}) =>
  rpc('tools/call', { name, arguments: {}, _meta: meta }, id)
const cancelled = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})
const batch = { 'mcp-protocol-version': '2025-03-26' }
const modern = (method: string) => ({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method })
const versionKey = 'io.modelcontextprotocol/protocolVersion'
const namesOf = (count: number, length = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [String(index).padStart(length, 'a'), 0]))

const countOf = async (tool: string, status: string) => {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from invocations where tool = $1 and status = $2',
    [tool, status],
  )
  return rows[0]?.count
}

test('what names something is not long, so that nothing long comes back, at each beat or in an error', async () => {
  const long = 'x'.repeat(201)
  const messages: [object, Record<string, string>?][] = [
    [call(1, 'weather', { progressToken: long })],
    [call(long)],
    [call(1, long)],
    [rpc(long)],
    [rpc('resources/read', { uri: long })],
    [rpc('tools/list', { cursor: long })],
    [rpc('initialize', { protocolVersion: long, capabilities: {}, clientInfo: { name: 'x', version: '1' } })],
    [rpc('tools/list', { _meta: { [versionKey]: long } }), modern('tools/list')],
    [rpc('tools/list', { [long]: 1 })],
    [cancelled(long)],
    [[rpc('ping'), call(1, 'weather', { progressToken: long })], batch],
  ]
  for (const [message, headers = {}] of messages) {
    const { status, code, detail } = await problemOf(await post(message, { headers }))
    assert.deepEqual([status, code], [422, 'invalid_request'])
    assert.match(detail, /at most 200 characters/)
    assert.ok(detail.length < 100)
  }
  assert.equal(await countOf('weather', 'queued'), 0)
})

test('a message has as many names as a client could want, and no more', async () => {
  const wide = [
    { ...rpc('tools/list'), ...namesOf(501) },
    rpc('tools/list', namesOf(501)),
    rpc('tools/list', { _meta: namesOf(501) }),
    rpc('tools/list', { _meta: { 'io.modelcontextprotocol/clientCapabilities': [namesOf(501)] } }),
    rpc('tools/call', { name: 'weather', arguments: namesOf(1_001) }),
  ]
  for (const message of wide) {
    const { status, code } = await problemOf(await post(message))
    assert.deepEqual([status, code], [413, 'payload_too_large'])
  }
  const rows = { rows: Array.from({ length: 500 }, () => ({ a: 1, b: 2, c: 3 })) }
  const fits = await post(rpc('tools/call', { name: 'weather', arguments: rows, _meta: namesOf(100) }))
  assert.match(await fits.text(), /rows is not a parameter of this tool/)
})

test('of what a caller wrote nothing is in the log', async () => {
  const secret = 'sk-live-1234'
  const messages: [object, Record<string, string>?][] = [
    [{ ...rpc('tools/list'), [secret]: { [secret]: secret } }],
    [{ jsonrpc: secret, id: 1, method: secret }],
    [rpc(secret, { name: secret })],
    [{ jsonrpc: '2.0', id: secret, result: { content: secret } }],
    [{ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: secret, progress: 1 } }],
    [rpc('tools/list', { _meta: { [versionKey]: secret } }), modern('tools/list')],
    [rpc('tools/list', { _meta: { [versionKey]: '2026-07-28' } }), modern(secret)],
    [rpc('tools/list', { cursor: { [secret]: secret } })],
    [rpc('tools/list'), { 'mcp-protocol-version': secret }],
    [[rpc('tools/list'), { [secret]: secret }], batch],
  ]
  for (const [message, headers = {}] of messages) await (await post(message, { headers })).text()
  await waitUntil('their lines', () => api.logText().includes('"mcp_error":"'))
  await (await post(rpc('ping'))).text()
  assert.ok(!api.logText().includes(secret))
})

test('a key waits for so many calls at a time, and the others are told so as a model can read it', async () => {
  const headers = { ...batch, 'mcp-session-id': 'mcp_crowd' }
  const ids = Array.from({ length: 200 }, (_, index) => index)
  const many = (from: number) => ids.slice(from, from + 100)
  const waiting = [0, 100].map((from) =>
    post(
      many(from).map((id) => call(id, 'crowded')),
      { headers },
    ).then((answer) => answer.text()),
  )
  await waitUntil('all to wait', async () => (await countOf('crowded', 'queued')) === 200)
  const refused = await (await post([call('a'), call('b')], { headers: batch })).text()
  const told = /"text":"Error: rate_limited: A key may have 200 calls that are waited for at a time"/g
  assert.deepEqual([refused.match(told)?.length, refused.match(/"isError":true/g)?.length], [2, 2])
  assert.equal(await countOf('weather', 'queued'), 0)
  const other = await makeKey(pool, { scopes: [...scopes] })
  const others = post(call(1), { token: other.token })
  await worker.run('weather', success)
  assert.match(await (await others).text(), /sunny/)
  for (const from of [0, 100]) await post(many(from).map(cancelled), { headers })
  for (const text of await Promise.all(waiting)) assert.equal(text.match(/"isError":true/g)?.length, 100)
  const again = post(call(1))
  await worker.run('weather', success)
  assert.match(await (await again).text(), /sunny/)
})

test('a call that is ended at once is ended, whichever of the two is there first', async () => {
  const before = (await countOf('weather', 'cancelled')) ?? 0
  const headers = { 'mcp-session-id': 'mcp_hasty' }
  const ids = [1, 2, 3, 4, 5, 6, 7, 8]
  const calls = ids.map(async (id) => {
    const sent = [() => post(call(id), { headers }), () => post(cancelled(id), { headers })]
    const [one, other] = (id % 2 === 0 ? sent : sent.toReversed()).map((send) => send())
    return Promise.all([one, other].map(async (answer) => (await answer)?.text()))
  })
  for (const id of ['own', 'none']) {
    const together = [call(id), cancelled(id)]
    const session = id === 'own' ? headers : {}
    calls.push(post(together, { headers: { ...batch, ...session } }).then(async (one) => [await one.text()]))
  }
  await Promise.all(calls)
  assert.equal(await countOf('weather', 'queued'), 0)
  assert.equal(await countOf('weather', 'cancelled'), before + ids.length + 2)
})
