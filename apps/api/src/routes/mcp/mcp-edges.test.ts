import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCreateTaskResultV2, isDetailedTaskV2 } from '@modelcontextprotocol/ext-tasks/core/v2'
import { revokeKey } from '@toolyard/access/revoke-key'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { z } from 'zod'
import { refusalOf } from '../../fixtures/answers.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'
import { tasksExtension } from './invocation-tasks.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const { url } = api
const { token } = await makeKey(pool, { scopes: ['tools:read', 'tools:invoke', 'invocations:read'] })
await publishTools(pool, [
  newManifest('weather', { parameters: {} }),
  newManifest('find_tools', { parameters: {} }),
])
for (const name of ['weather', 'find_tools']) await buildTool(pool, name)
const worker = await workerHand(pool)

type Sent = {
  headers?: Record<string, string>
  signal?: AbortSignal
  query?: string
  token?: string
  at?: string
}

const post = (body: unknown, { headers = {}, signal, query = '', token: own = token, at = url }: Sent = {}) =>
  fetch(`${at}/mcp${query}`, {
    method: 'POST',
    headers: {
      ...bearer(own),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })

const rpc = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', id, method, params })

const modernMeta = (capabilities: object = {}) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': capabilities,
})
const tasksMeta = modernMeta({ extensions: { [tasksExtension]: {} } })

const answerShape = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
})

type Given = { meta?: object; token?: string }

function postModern(method: string, name: string, params: object, given: Given = {}) {
  const { meta = tasksMeta, ...sent } = given
  return post(rpc(method, { ...params, _meta: meta }), {
    ...sent,
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name },
  })
}

const modern = async (...asked: Parameters<typeof postModern>) => readAnswer(await postModern(...asked))

const framesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => answerShape.parse(JSON.parse(line.slice(6))))

/** The last message, whether it came alone or in a stream. */
async function readAnswer(answer: Response) {
  const text = await answer.text()
  return framesOf(text).at(-1) ?? answerShape.parse(JSON.parse(text))
}

const rowOf = async (id: string) => {
  const { rows } = await pool.query<{ status: string; asked: boolean }>(
    'select status, cancel_requested_at is not null as asked from invocations where id = $1',
    [id],
  )
  return rows[0]
}
const call = (id: number) => rpc('tools/call', { name: 'weather', arguments: {} }, id)
const cancelled = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason: 'enough' },
})

test('each of the older versions is agreed on, and one that nobody knows is answered with one of ours', async () => {
  const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
  for (const protocolVersion of [...versions, '1999-01-01']) {
    const body = rpc('initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'old', version: '1' },
    })
    const answer = await post(body)
    assert.match(answer.headers.get('mcp-session-id') ?? '', /^mcp_[0-9a-z]{26}$/)
    const { result } = await readAnswer(answer)
    const expected = versions.includes(protocolVersion) ? protocolVersion : '2025-11-25'
    assert.equal(result?.['protocolVersion'], expected)
  }
})

test('messages of the older versions that come together are answered together, calls among them', async () => {
  const listed = { ...rpc('tools/list'), id: 'list' }
  const answering = post([listed, call(1), call(2), cancelled(9)], {
    headers: { 'mcp-protocol-version': '2025-03-26' },
  })
  await worker.run('weather', success)
  await worker.run('weather', success)
  const frames = framesOf(await (await answering).text())
  const answers = new Map(frames.map(({ id, result }) => [id, result]))
  assert.deepEqual([...answers.keys()].map(String).toSorted(), ['1', '2', 'list'])
  for (const id of [1, 2]) assert.equal(answers.get(id)?.['isError'], undefined)
  const [one, two] = [1, 2].map((id) => JSON.stringify(answers.get(id)))
  assert.notEqual(one, two, 'each is an invocation of its own')
})

test('a client that takes tasks is given one where the call takes long, and finds its result there', async () => {
  const calling = modern('tools/call', 'weather', { name: 'weather', arguments: {} })
  const id = await worker.queued('weather')
  const attempt = await worker.claim(id)
  const { result: started } = await calling
  assert.ok(isCreateTaskResultV2(started), JSON.stringify(started))
  assert.deepEqual([started.taskId, started.status], [id, 'working'])
  const get = async () => (await modern('tasks/get', id, { taskId: id })).result
  const working = await get()
  assert.ok(isDetailedTaskV2(working))
  assert.deepEqual([working.status, working.statusMessage], ['working', 'running'])
  await worker.end(attempt, success)
  const completed = await get()
  assert.ok(isDetailedTaskV2(completed) && completed.status === 'completed')
  assert.deepEqual(completed.result['content'], [{ type: 'text', text: 'sunny' }])
  const update = await modern('tasks/update', id, { taskId: id, inputResponses: {} })
  assert.equal(update.result?.['resultType'], 'complete')
})

test('a task is ended through the protocol, and is nobody else’s', async () => {
  const calling = modern('tools/call', 'weather', { name: 'weather', arguments: {} })
  const id = await worker.queued('weather')
  await calling
  assert.equal((await rowOf(id))?.status, 'queued', 'the end of the answer is not the end of the task')
  const elsewhere = await makeKey(pool, { scopes: ['tools:invoke', 'invocations:read'], tools: ['other'] })
  const others = await modern('tasks/cancel', id, { taskId: id }, { token: elsewhere.token })
  assert.equal(others.error?.code, -32602)
  const caller = await makeKey(pool, { scopes: ['tools:invoke'] })
  const hidden = await modern('tasks/get', id, { taskId: id }, { token: caller.token })
  assert.match(hidden.error?.message ?? '', /not_found/)
  assert.equal((await rowOf(id))?.status, 'queued')
  const ended = await modern('tasks/cancel', id, { taskId: id })
  assert.equal(ended.error, undefined)
  const task = (await modern('tasks/get', id, { taskId: id })).result
  assert.ok(isDetailedTaskV2(task))
  assert.equal(task.status, 'cancelled')
  assert.equal((await modern('tasks/get', 'none', { taskId: 'none' })).error?.code, -32602)
})

test('who has not said that it takes tasks is told of none', async () => {
  const without = modernMeta()
  const calling = modern('tools/call', 'weather', { name: 'weather', arguments: {} }, { meta: without })
  const id = await worker.run('weather', success)
  const { result } = await calling
  assert.deepEqual(result?.['content'], [{ type: 'text', text: 'sunny' }])
  const refused = await postModern('tasks/get', id, { taskId: id }, { meta: without })
  assert.deepEqual([refused.status, (await readAnswer(refused)).error?.code], [400, -32021])
  assert.equal((await readAnswer(await post(rpc('tasks/get', { taskId: id })))).error?.code, -32601)
})

test('a connection that breaks ends the call, but in the older versions it does not', async () => {
  const gone = new AbortController()
  const [{ signal }, sent] = [gone, { name: 'weather', arguments: {} }]
  const older = post(call(1), { signal }).then((answer) => answer.text())
  const olderId = await worker.queued('weather')
  const olderAttempt = await worker.claim(olderId)
  const newer = post(rpc('tools/call', { ...sent, _meta: modernMeta() }), {
    signal,
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'weather' },
  }).then((answer) => answer.text())
  const newerId = await worker.queued('weather')
  gone.abort()
  for (const broken of [older, newer]) await assert.rejects(broken, { name: 'AbortError' })
  await waitUntil('one to be cancelled', async () => (await rowOf(newerId))?.status === 'cancelled')
  assert.deepEqual(await rowOf(olderId), { status: 'running', asked: false })
  await worker.end(olderAttempt, success)
})

test('only the session that made a call ends it by its number', async () => {
  const mine = { 'mcp-session-id': 'mcp_mine' }
  const calling = post(call(7), { headers: mine })
  const id = await worker.queued('weather')
  const other = await makeKey(pool, { scopes: ['tools:invoke'] })
  const strangers: Sent[] = [
    {},
    { headers: { 'mcp-session-id': 'mcp_other' } },
    { headers: mine, token: other.token },
  ]
  for (const stranger of strangers) assert.equal((await post(cancelled(7), stranger)).status, 202)
  for (const requestId of [8, '7', null, {}]) await post(cancelled(requestId), { headers: mine })
  assert.equal((await rowOf(id))?.status, 'queued')
  assert.equal((await post(cancelled(7), { headers: mine })).status, 202)
  await waitUntil('it to be cancelled', async () => (await rowOf(id))?.status === 'cancelled')
  const { result } = await readAnswer(await calling)
  assert.equal(result?.['isError'], true)
})

test('a process that leaves ends no call that it waits for', async () => {
  const leaving = await testApi({ databaseUrl })
  const body = rpc('tools/call', { name: 'weather', arguments: {}, _meta: modernMeta() })
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'weather' }
  const answer = await post(body, { headers, at: leaving.url })
  const id = await worker.queued('weather')
  await leaving.drain(AbortSignal.abort())
  await answer.text().catch(() => 'cut')
  assert.deepEqual(await rowOf(id), { status: 'queued', asked: false })
  await worker.run('weather', success)
  assert.equal((await rowOf(id))?.status, 'succeeded')
})

test('a key that is revoked while its call runs is told nothing more of it, and the call goes on', async () => {
  const lost = await makeKey(pool, { scopes: ['tools:invoke'] })
  const calling = post(call(1), { token: lost.token })
  const id = await worker.queued('weather')
  const attempt = await worker.claim(id)
  await revokeKey(pool, { actor: { kind: 'operator' } }, lost.id)
  const { result, error } = await readAnswer(await calling)
  assert.deepEqual([result, error?.message.split(':')[0]], [undefined, 'unauthenticated'])
  await worker.end(attempt, success)
  assert.equal((await rowOf(id))?.status, 'succeeded')
})

test('what comes from a page of another place, without a key, too large or too deep is refused', async () => {
  const list = rpc('tools/list')
  assert.equal((await post(list, { headers: { origin: 'https://evil.example' } })).status, 403)
  assert.equal((await post(list, { headers: { origin: 'null' } })).status, 403)
  assert.equal((await post(list, { headers: { origin: 'http://localhost:6274' } })).status, 200)
  const keyless = await fetch(`${url}/mcp`, { method: 'POST', body: '{}' })
  assert.equal(keyless.headers.get('www-authenticate'), 'Bearer realm="toolyard"')
  assert.equal(await refusalOf(keyless), '401 unauthenticated')
  const deep = `${'['.repeat(90_000)}${']'.repeat(90_000)}`
  for (const body of [deep, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":${deep}}}`])
    assert.equal(await refusalOf(await post(body)), '422 invalid_request')
  assert.equal(await refusalOf(await post('{')), '400 malformed_request')
  const asText = await post(list, { headers: { 'content-type': 'text/plain' } })
  assert.equal(await refusalOf(asText), '415 unsupported_media_type')
  const many = Array.from({ length: 101 }, (_, index) => call(index))
  assert.equal(await refusalOf(await post(many)), '413 payload_too_large')
  for (const body of [null, 1, 'text', [], {}, { jsonrpc: '1.0', id: 1, method: 'tools/list' }])
    assert.equal((await post(JSON.stringify(body))).status, 400, JSON.stringify(body))
  const { rows } = await pool.query(`select 1 from invocations where status = 'queued'`)
  assert.equal(rows.length, 0)
})

test('a tool of one’s own that has a name of the platform’s needs the scope to call tools all the same', async () => {
  const reader = await makeKey(pool, { scopes: ['tools:read'] })
  const own = rpc('tools/call', { name: 'find_tools', arguments: {} })
  const { error } = await readAnswer(await post(own, { token: reader.token }))
  assert.match(error?.message ?? '', /missing_scope/)
  const { rows } = await pool.query(`select 1 from invocations where tool = 'find_tools'`)
  assert.equal(rows.length, 0)
})

test('an answer has the headers that all answers have, and each message its line in the log', async () => {
  const answer = await post(rpc('tools/list'))
  const requestId = answer.headers.get('x-request-id')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  await answer.text()
  const written = await waitUntil('the line', () =>
    api
      .logText()
      .split('\n')
      .find((text) => text.includes('"mcp"')),
  )
  assert.match(written, /"method":"/)
  assert.ok(api.logText().includes(`"request_id":"${requestId}"`))
})

test('there is no other stream and no session to end', async () => {
  for (const method of ['GET', 'DELETE']) {
    const answer = await fetch(`${url}/mcp`, { method, headers: bearer(token) })
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST'])
  }
})

test('who subscribes is told that there is nothing to be told of, and let go', async () => {
  const wanted = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['a:b'] }
  const listened = await post(rpc('subscriptions/listen', { _meta: modernMeta(), notifications: wanted }), {
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
  })
  const [acknowledged, ended] = framesOf(await listened.text())
  assert.equal(acknowledged?.method, 'notifications/subscriptions/acknowledged')
  assert.deepEqual(acknowledged.params?.['notifications'], {})
  assert.equal(ended?.result?.['resultType'], 'complete')
})

test('the topic of the calls is named with the address', async () => {
  const calling = post(call(1), { query: '?topic=trip' })
  const id = await worker.run('weather', success)
  await (await calling).text()
  const { rows } = await pool.query('select topic from invocations where id = $1', [id])
  assert.deepEqual(rows, [{ topic: 'trip' }])
  assert.equal(await refusalOf(await post(call(1), { query: '?topic=key:x' })), '422 invalid_request')
})
