import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '@toolyard/contract/scopes'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import { claim } from '@toolyard/invocations/claim'
import { finish } from '@toolyard/invocations/finish'
import { result, success } from '@toolyard/invocations/fixtures/outcomes'
import { renewLeases } from '@toolyard/invocations/renew-leases'
import { recordOutcomes } from '@toolyard/memory/record-outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { z } from 'zod'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import type { Sender, SendOptions, Sent } from '../../fixtures/hook-senders.ts'
import { hmacOfSender, hookSecret, makeHook, otherHookSecret } from '../../fixtures/hook-senders.ts'
import { buildTool, newManifest, publishTools, testEngine } from '../../fixtures/published-tools.ts'
import { callerOf } from '../../fixtures/caller.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl, authFailuresPerMinute: 1_000, hookCallsPerMinute: 100_000 })
const admin = await makeKey(pool, { scopes: [...scopes] })

const config_schema = { webhook_secret: { secret: true }, webhook_secret_previous: { secret: true } }
const parameters = { unit: { type: 'string', default: 'metre' }, free: { type: 'integer' } }
const hookTool = (name: string, trigger: object, more: object = {}) =>
  newManifest(name, { trigger: { type: 'webhook', ...trigger }, config_schema, parameters, ...more })

const tools = {
  token: { auth: 'token' },
  standard: { auth: 'standard' },
  svix: { auth: 'standard' },
  github: { auth: 'github' },
  stripe: { auth: 'stripe' },
  hmac: { auth: 'hmac', hmac: hmacOfSender },
} satisfies Record<Sender, object>
// safe because these are its keys
const senders = Object.keys(tools) as Sender[]

await publishTools(pool, [
  ...senders.map((name) => hookTool(name, tools[name])),
  hookTool('large', { auth: 'token' }, { input: 'stdin' }),
  hookTool('second', { auth: 'token', headers: ['x-topic', 'content-type'] }),
  hookTool('bare', { auth: 'token' }),
  newManifest('plain', { parameters: {}, config_schema }),
])
const withSecret = [...senders, 'large', 'second', 'plain']
for (const name of [...withSecret, 'bare']) await buildTool(pool, name)
await renewLeases(pool, { workerId: 'w', engineId: testEngine, slots: 1_000 }, [])

const call = callerOf(api.url, admin.token)

for (const name of withSecret) {
  assert.ok((await call('PUT', `/tools/${name}/config`, { webhook_secret: hookSecret })).ok)
}

const post = (tool: string, { headers, body }: Sent) =>
  fetch(`${api.url}/hooks/${tool}`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })

const send = (sender: Sender, body: string, options: SendOptions = {}) =>
  post(sender, makeHook(sender, body, options))

const accepted = z.strictObject({ id: z.string() })
async function idOf(answer: Response): Promise<string> {
  assert.equal(answer.status, 202)
  return (await bodyOf(answer, accepted)).id
}

type Row = { tool: string; topic: string; key_id: string | null; params: Record<string, unknown> }
async function rowOf(id: string): Promise<Row> {
  const { rows } = await pool.query<Row>(
    'select tool, topic, key_id, params from invocations join invocation_inputs using (id) where id = $1',
    [id],
  )
  assert.ok(rows[0])
  return rows[0]
}

const rowCount = async () =>
  (await pool.query<{ n: number }>('select count(*)::integer as n from invocations')).rows[0]?.n

const hookParam = z.object({ _webhook: z.looseObject({ received_at: z.iso.datetime() }) })

let count = 0
const fresh = () => `{"id":"evt_${(count += 1)}","name":"Jörg"}`

test('a message of each kind of sender becomes one invocation with the body and the chosen headers', async () => {
  for (const sender of senders) {
    const body = fresh()
    const id = await idOf(await send(sender, body, { id: 'e-1', headers: { 'x-other': 'o' } }))
    const { tool, topic, key_id, params } = await rowOf(id)
    assert.deepEqual([tool, topic, key_id], [sender, `hook:${sender}`, null])
    const { received_at } = hookParam.parse(params)._webhook
    assert.ok(Math.abs(Date.parse(received_at) - Date.now()) < 60_000)
    const eventIds = { token: null, stripe: `evt_${count}` }
    assert.deepEqual(params, {
      unit: 'metre',
      _webhook: {
        headers: {
          'content-type': 'application/json',
          ...(sender === 'github' ? { 'x-github-event': 'push' } : {}),
        },
        body: JSON.parse(body),
        body_encoding: 'json',
        event_id: sender === 'token' || sender === 'stripe' ? eventIds[sender] : 'e-1',
        received_at,
      },
    })
  }
})

test('the same message again is the same invocation, many times at once too', async () => {
  for (const sender of senders) {
    // A token's messages are one by their id alone.
    const sent = makeHook(sender, fresh(), sender === 'token' ? { headers: { 'webhook-id': 'once' } } : {})
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(sender, sent)))
    const ids = new Set(await Promise.all(answers.map(idOf)))
    assert.equal(ids.size, 1, sender)
    const replayed = answers.filter((answer) => answer.headers.get('idempotency-replayed') === 'true')
    assert.equal(replayed.length, 49)
  }
})

test('an event is one where its id is signed, and a body is one where it is not', async () => {
  const id = 'same'
  for (const sender of ['standard', 'svix'] as const) {
    const first = await idOf(await send(sender, fresh(), { id }))
    // Written anew, and signed at another time.
    assert.equal(await idOf(await send(sender, fresh(), { id, sentAt: new Date(Date.now() - 9_000) })), first)
    assert.notEqual(await idOf(await send(sender, fresh(), { id: 'other' })), first)
  }
  const stripe = await idOf(await send('stripe', '{"id":"evt_x","pending":1}'))
  assert.equal(await idOf(await send('stripe', '{"id":"evt_x","pending":0}')), stripe)
  for (const sender of ['github', 'hmac'] as const) {
    const body = fresh()
    const sentAt = new Date()
    const first = await idOf(await send(sender, body, { id, sentAt }))
    const forged = { id: 'forged', sentAt, headers: { 'x-github-event': 'release' } }
    assert.equal(await idOf(await send(sender, body, forged)), first, 'seen, and sent again under another id')
    assert.notEqual(await idOf(await send(sender, fresh(), { id })), first)
  }
})

test('events whose bodies are alike are many, where their times are signed or nothing says that they are one', async () => {
  const body = fresh()
  const at = (secondsAgo: number) => ({ sentAt: new Date(Date.now() - secondsAgo * 1_000) })
  const hmac = [await idOf(await send('hmac', body, at(9))), await idOf(await send('hmac', body, at(5)))]
  const token = [
    await idOf(await post('token', tokenHook(body))),
    await idOf(await post('token', tokenHook(body))),
  ]
  assert.equal(new Set([...hmac, ...token]).size, 4)
  assert.equal(await idOf(await send('github', body, at(9))), await idOf(await send('github', body)))
})

test('two tools never share an event, and no key of a caller meets one', async () => {
  const sent = makeHook('token', fresh(), { headers: { 'webhook-id': 'shared' } })
  const ids = await Promise.all(
    ['token', 'second', 'large'].map(async (tool) => idOf(await post(tool, sent))),
  )
  assert.equal(new Set(ids).size, 3)
  const { rows } = await pool.query<{ key: string }>(
    'select key from idempotency where key_id = $1 and invocation_id = $2',
    ['', ids[0]],
  )
  const [row] = rows
  assert.match(row?.key ?? '', /^hook:token:[\w-]{43}$/)
  const answer = await fetch(`${api.url}/tools/token/invoke`, {
    method: 'POST',
    headers: {
      ...bearer(admin.token),
      'content-type': 'application/json',
      'idempotency-key': row?.key ?? '',
    },
    body: '{}',
  })
  assert.equal(answer.status, 202)
  assert.equal(answer.headers.get('idempotency-replayed'), null)
})

test('whatever is not proven gets one answer, whether there is such a tool or not', async () => {
  const before = await rowCount()
  const old = { sentAt: new Date(Date.now() - 301_000) }
  const body = fresh()
  const plain = { headers: { 'content-type': 'application/json' }, body }
  const refused: [string, Sent][] = [
    ...senders.map((sender): [string, Sent] => [sender, makeHook(sender, body, { secret: otherHookSecret })]),
    ...senders.map((sender): [string, Sent] => [sender, plain]),
    ...senders.map((sender): [string, Sent] => [sender, { ...makeHook(sender, body), body: `${body} ` }]),
    ...(['standard', 'svix', 'stripe', 'hmac'] as const).map((sender): [string, Sent] => [
      sender,
      makeHook(sender, body, old),
    ]),
    ['token', { ...plain, headers: bearer(admin.token) }],
    ['bare', makeHook('token', body)],
    ['plain', makeHook('token', body)],
    ['none', makeHook('token', body)],
    ['Token', makeHook('token', body)],
    ['a%00b', makeHook('token', body)],
    ['%E0%A4%A', makeHook('token', body)],
    ['x'.repeat(2_000), makeHook('token', body)],
    ['__proto__', makeHook('token', body)],
  ]
  const [first, ...others] = await Promise.all(
    // Whatever the token says, it says it of the body that was sent.
    refused
      .filter(([tool, sent]) => !(tool === 'token' && sent.body === `${body} `))
      .map(async ([tool, sent]) => {
        const answer = await post(tool, sent)
        const { request_id: _, ...problem } = await problemOf(answer)
        const kept = [...answer.headers].filter(
          ([name]) => !['x-request-id', 'date', 'traceparent'].includes(name),
        )
        return { tool, answer: { problem, headers: kept } }
      }),
  )
  assert.equal(first?.answer.problem.code, 'unauthenticated')
  assert.ok(others.length > 20)
  for (const other of others) assert.deepEqual(other.answer, first?.answer, other.tool)
  assert.equal(await rowCount(), before)
})

test('why a message was not believed stands in the log, and nothing of it', async () => {
  await send('github', fresh(), { secret: otherHookSecret })
  const event = await waitUntil('it to be logged', () =>
    api.events().findLast((one) => one['route'] === '/hooks/:tool' && one['hook_refusal'] !== undefined),
  )
  assert.equal(event['hook_refusal'], 'no_match')
  assert.match(String(event['hook_detail']), /^x-hub-signature-256 is not the signature/)
  for (const secret of [hookSecret, otherHookSecret, 'Jörg']) assert.ok(!api.logText().includes(secret))
})

test('both secrets count while a sender is moved from the one to the other', async () => {
  const taken = async (secret: string) => (await send('standard', fresh(), { id: `${count}`, secret })).status
  const put = (values: object) => call('PUT', '/tools/standard/config', values)
  await put({ webhook_secret: otherHookSecret, webhook_secret_previous: hookSecret })
  assert.deepEqual([await taken(hookSecret), await taken(otherHookSecret)], [202, 202])
  await call('DELETE', '/tools/standard/config/webhook_secret_previous')
  assert.deepEqual([await taken(hookSecret), await taken(otherHookSecret)], [401, 202])
  await call('DELETE', '/tools/standard/config/webhook_secret')
  assert.equal(await taken(otherHookSecret), 401)
  await put({ webhook_secret: hookSecret, webhook_secret_previous: '' })
  assert.equal(await taken(hookSecret), 202)
})

test('a secret that cannot be read refuses every message, until it is set again', async () => {
  await pool.query(
    "update vault_settings set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where tool = 'svix' and key = 'webhook_secret'",
  )
  const answer = await send('svix', fresh(), { id: 'unread' })
  assert.ok(answer.headers.get('retry-after'))
  const { code, detail } = await problemOf(answer)
  assert.equal(code, 'secrets_unavailable')
  assert.ok(!detail.includes('svix'))
  await call('PUT', '/tools/svix/config', { webhook_secret: hookSecret })
  await idOf(await send('svix', fresh(), { id: 'unread' }))
})

const tokenHook = (body: Buffer | string, headers: Record<string, string> = {}) =>
  makeHook('token', body, { headers })

test('headers that were not chosen never reach the row, what proves the sender least of all', async () => {
  const headers = { 'x-topic': 't', cookie: 'c4n4ry-c', 'x-webhook-token': hookSecret, 'x-more': 'c4n4ry-m' }
  const { params } = await rowOf(await idOf(await post('second', tokenHook(fresh(), headers))))
  const stored = JSON.stringify(params)
  for (const kept of ['c4n4ry', hookSecret]) assert.ok(!stored.includes(kept), stored)
  assert.deepEqual(hookParam.parse(params)._webhook['headers'], {
    'x-topic': 't',
    'content-type': 'application/json',
  })
})

test('a body comes to the tool as it is: JSON, a text, or base64', async () => {
  const read = async (sent: Sent) => {
    const { _webhook } = hookParam.parse((await rowOf(await idOf(await post('token', sent)))).params)
    return [_webhook['body_encoding'], _webhook['body']]
  }
  assert.deepEqual(await read(tokenHook('{"broken":')), ['text', '{"broken":'])
  assert.deepEqual(await read(tokenHook('')), ['text', ''])
  assert.deepEqual(await read(tokenHook('a\0b')), ['text', 'a\0b'])
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  assert.deepEqual(await read(tokenHook('a=1&b=2', form)), ['text', 'a=1&b=2'])
  const bytes = Buffer.from([0xff, 0, 0x80, 0x0a])
  assert.deepEqual(await read(tokenHook(bytes)), ['base64', bytes.toString('base64')])
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  assert.deepEqual(await read(tokenHook(deep)), ['text', deep])
})

test('a body of 512 KiB is read and one byte more is not, told beforehand or not', async () => {
  const half = 512 * 1024
  const large = (size: number) => tokenHook('x'.repeat(size), { 'content-type': 'text/plain' })
  await idOf(await post('large', large(half)))
  const over = large(half + 1)
  assert.equal(await refusalOf(await post('large', over)), '413 payload_too_large')
  assert.equal(await refusalOf(await post('none', over)), '413 payload_too_large')
  const streamed: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: over.headers,
    body: new Blob([String(over.body)]).stream(),
    duplex: 'half',
  }
  assert.equal(await refusalOf(await fetch(`${api.url}/hooks/large`, streamed)), '413 payload_too_large')
})

test('more than 60 KiB is for tools that take their payload on stdin', async () => {
  const body = JSON.stringify({ a: 'x'.repeat(60 * 1024) })
  assert.equal(await refusalOf(await post('token', tokenHook(body))), '413 payload_too_large')
  await idOf(await post('large', tokenHook(body)))
  await idOf(await post('token', tokenHook(JSON.stringify({ a: 'x'.repeat(59 * 1024) }))))
  // Each of these characters takes six bytes of JSON.
  const spread = tokenHook('\u0001'.repeat(512 * 1024), { 'content-type': 'text/plain' })
  await idOf(await post('large', spread))
})

test('who is known is told what is the matter, and who is not is not', async () => {
  const known = async () => refusalOf(await post('token', tokenHook(fresh())))
  const stranger = async () => refusalOf(await send('token', fresh(), { secret: otherHookSecret }))
  const events = tokenHook(fresh(), { 'webhook-id': 'known' })
  const first = await idOf(await post('token', events))
  await call('POST', '/tools/token/disable')
  assert.deepEqual([await known(), await stranger()], ['409 tool_disabled', '401 unauthenticated'])
  assert.equal(await idOf(await post('token', events)), first, 'what was accepted stays accepted')
  await call('POST', '/tools/token/enable')
  await call('PUT', '/settings/tools_enabled', { enabled: false })
  assert.deepEqual([await known(), await stranger()], ['503 tools_disabled', '401 unauthenticated'])
  await call('PUT', '/settings/tools_enabled', { enabled: true })
  await idOf(await post('token', tokenHook(fresh())))
})

const afterCommit = createAfterCommit({
  pool,
  queues: { enqueue: async () => {} },
  onFailure: (error) => assert.fail(String(error)),
})

type Outcome = Parameters<typeof finish>[1]['outcome']
async function runAsWorker(id: string, outcome: Outcome) {
  const deps = { pool, afterCommit }
  const claimed = await claim(deps, { workerId: 'w', engineId: testEngine }, { invocationId: id, attempt: 1 })
  assert.ok(claimed.kind === 'claimed')
  const raw = { stdout: Buffer.from('{}'), stderrTail: Buffer.from('') }
  await finish(deps, { hold: claimed.attempt, outcome, raw, within: recordOutcomes })
}

test('who wishes to wait is told the end, and no more than what the tool says', async () => {
  const ended = async (outcome: Outcome) => {
    const body = fresh()
    const again = (headers = {}) => post('token', tokenHook(body, { 'webhook-id': 'ended', ...headers }))
    const waiting = again({ prefer: 'wait=30' })
    await runAsWorker(await idOf(await again()), outcome)
    const answer = await waiting
    assert.equal(answer.status, 200)
    // safe because it is compared whole
    const { id, ...told } = (await answer.json()) as Record<string, unknown>
    assert.match(String(id), /^inv_/)
    assert.equal((await again({ prefer: 'wait=1' })).status, 200)
    assert.equal((await again()).status, 202)
    return told
  }
  const data = { rows: [1] }
  assert.deepEqual(await ended({ ...success, result: { ...result, data } }), {
    status: 'succeeded',
    result: { text: result.text, title: null, data },
  })
  const failure = { kind: 'exit_nonzero', class: 'internal', message: 'c4n4ry at line 3' } as const
  const told = await ended({ kind: 'failed', failure })
  assert.deepEqual(told, { status: 'failed', failure: { kind: 'exit_nonzero' } })
})

test('keys that are not bound see it, and those bound to the tool; those bound to a topic do not', async () => {
  const id = await idOf(await post('token', tokenHook(fresh())))
  const all = [...scopes]
  for (const [bound, expected] of [
    [{}, 200],
    [{ tools: ['token'] }, 200],
    [{ tools: ['second'] }, 404],
    [{ topics: ['a'] }, 404],
    [{ topics: ['a'], tools: ['token'] }, 404],
  ] as const) {
    const body = { scopes: all, ...('topics' in bound ? { topics: [...bound.topics] } : {}) }
    const tool = 'tools' in bound ? { tools: [...bound.tools] } : {}
    const { token } = await makeKey(pool, { ...body, ...tool })
    const answer = await fetch(`${api.url}/invocations/${id}`, { headers: bearer(token) })
    assert.equal(answer.status, expected, JSON.stringify(bound))
  }
  for (const topic of ['hook:token', 'hook:']) {
    const answer = await call('POST', '/tools/token/invoke', { topic })
    assert.equal(await refusalOf(answer), '422 invalid_request')
    const bound = { name: 'k', scopes: ['tools:read'], topics: [topic] }
    assert.equal(await refusalOf(await call('POST', '/keys', bound)), '422 invalid_request')
  }
})

test('a message is run again with what came, though no caller could give it', async () => {
  const id = await idOf(await post('token', tokenHook(fresh())))
  const answer = await call('POST', `/invocations/${id}/replay`)
  const { id: again } = await bodyOf(answer, z.looseObject({ id: z.string() }))
  assert.deepEqual((await rowOf(again)).params, (await rowOf(id)).params)
  const given = await call('POST', '/tools/token/invoke', { params: { _webhook: {} } })
  assert.equal(await refusalOf(given), '422 invalid_params')
})
