import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { TestContext } from 'node:test'
import { after, test } from 'node:test'
import { revokeKey } from '@toolyard/access/revoke-key'
import { scopes } from '@toolyard/contract/scopes'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import { cancel } from '@toolyard/invocations/cancel'
import type { Attempt } from '@toolyard/invocations/claim'
import { claim } from '@toolyard/invocations/claim'
import { finish } from '@toolyard/invocations/finish'
import { failure, success } from '@toolyard/invocations/fixtures/outcomes'
import { renewLeases } from '@toolyard/invocations/renew-leases'
import { createStderrSender } from '@toolyard/invocations/stderr-sender'
import { createSubmitter } from '@toolyard/invocations/submitter'
import { createWatcher } from '@toolyard/invocations/watcher'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { refusalOf } from '../../fixtures/answers.ts'
import type { EventClient } from '../../fixtures/event-client.ts'
import { followEvents } from '../../fixtures/event-client.ts'
import { buildTool, newManifest, publishTools, testEngine } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const other = await testApi({ databaseUrl })
const admin = await makeKey(pool, { scopes: [...scopes] })
const reader = await makeKey(pool, { scopes: ['invocations:read'] })

const onFailure = (error: unknown) => assert.fail(String(error))
const deps = {
  pool,
  afterCommit: createAfterCommit({ pool, queues: { enqueue: async () => {} }, onFailure }),
}
const submitter = createSubmitter(deps)
// What a worker has for it.
const sender = createStderrSender({ pool, onFailure })
const wishes: string[] = []
const hears = (payload: string) => {
  wishes.push(payload)
  for (const hear of Object.values(sender.channels)) hear(payload)
}
const heard = createWatcher({
  pool,
  databaseUrl,
  applicationName: 'test-worker',
  channels: Object.fromEntries(Object.keys(sender.channels).map((channel) => [channel, hears])),
  // The database goes before it does.
  onError: () => {},
})
after(async () => {
  await Promise.all([sender.close(), heard.close()])
})

const retrying = { constraints: { retries: 3 } }
await publishTools(pool, [newManifest('plain'), newManifest('flaky', retrying)])
for (const name of ['plain', 'flaky']) await buildTool(pool, name)
const worker = { workerId: 'w', engineId: testEngine }
await renewLeases(pool, { ...worker, slots: 1_000 }, [])
await waitUntil('the worker to listen', () => heard.isListening())

async function submit(tool = 'plain', topic = 'trip'): Promise<string> {
  const submission = { tool, topic, keyId: admin.id, params: {}, telemetry: {} }
  const submitted = await submitter.submit(submission)
  assert.equal(submitted.kind, 'accepted')
  assert.ok('invocation' in submitted)
  return submitted.invocation.id
}

async function begin(id: string, attempt = 1): Promise<Attempt> {
  await pool.query('update invocations set not_before = due_at where id = $1', [id])
  const claimed = await claim(deps, worker, { invocationId: id, attempt })
  assert.equal(claimed.kind, 'claimed')
  assert.ok('attempt' in claimed)
  return claimed.attempt
}

const succeed = (hold: Attempt) => finish(deps, { hold, outcome: success })
const fail = (hold: Attempt) => finish(deps, { hold, outcome: failure })

type Following = { at?: { url: string }; token?: string; lastEventId?: string }

async function follow(t: TestContext, id: string, options: Following = {}): Promise<EventClient> {
  const { at = api, token = admin.token, lastEventId } = options
  const client = await followEvents(`${at.url}/invocations/${id}/events`, token, lastEventId)
  t.after(client.abort)
  return client
}

/** A stream ends with its last event, and nothing is left of it. */
const end = (client: EventClient) => client.until('the end of the stream', () => client.hasEnded())

const isWatched = (id: string) => waitUntil('the worker to know', () => sender.isWanted(id))

test('a life is told as it happens, by both processes, and the stream ends with it', async (t) => {
  const id = await submit('flaky')
  const clients = [await follow(t, id), await follow(t, id, { at: other })]
  const { response } = clients[0] ?? assert.fail()
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  const has = (status: string) =>
    Promise.all(clients.map((client) => client.until(status, () => client.statuses().includes(status))))
  await has('queued 0')
  const first = await begin(id)
  await has('running 1')
  await fail(first)
  await has('queued 1')
  const second = await begin(id, 2)
  await has('running 2')
  await succeed(second)
  await Promise.all(clients.map(end))
  const lifeOf = ['queued 0', 'running 1', 'queued 1', 'running 2', 'succeeded 2']
  for (const client of clients) {
    assert.deepEqual(client.statuses(), lifeOf)
    assert.match(client.text(), /^retry: \d+\n/)
    assert.equal(client.text().split('retry:').length, 2)
  }
})

test('who comes back gets exactly what it missed, at any process', async (t) => {
  const id = await submit('flaky')
  const before = await follow(t, id)
  await before.until('its place', () => before.events.length > 0)
  const lastEventId = before.events.at(-1)?.id ?? ''
  before.abort()
  await fail(await begin(id))
  const running = await begin(id, 2)
  const back = await follow(t, id, { at: other, lastEventId })
  await back.until('what it missed', () => back.events.length >= 3)
  assert.deepEqual(back.statuses(), ['running 1', 'queued 1', 'running 2'])
  const again = await follow(t, id, { lastEventId: back.events.at(-1)?.id ?? '' })
  await cancel(deps, { kind: 'operator' }, { id })
  await Promise.all(
    [back, again].map((each) => each.until('the wish', () => each.text().includes('cancel_r'))),
  )
  await succeed(running)
  await Promise.all([end(back), end(again)])
  assert.deepEqual(again.statuses(), ['running 2', 'cancelled 2'])
  const late = await follow(t, id, { lastEventId })
  await end(late)
  assert.deepEqual(late.statuses(), ['running 1', 'queued 1', 'running 2', 'cancelled 2'])
  const fresh = await follow(t, id, { lastEventId: 'nonsense' })
  await end(fresh)
  assert.deepEqual(fresh.statuses(), ['cancelled 2'])
  const done = await follow(t, id, { lastEventId: fresh.events[0]?.id ?? '' })
  assert.equal(done.response.status, 204)
})

test('stderr is live, for those with the scope, and the last words come before the end', async (t) => {
  const id = await submit()
  const [raw, plain] = [await follow(t, id, { at: other }), await follow(t, id, { token: reader.token })]
  await isWatched(id)
  const hold = await begin(id)
  const live = sender.open({ id, attempt: 1 })
  live.write('half way\n')
  await raw.until('the words', () => raw.stderr() !== '')
  const late = await follow(t, id)
  live.write('nearly\n')
  await raw.until('more words', () => raw.stderr().includes('nearly'))
  live.write('last words')
  await live.end()
  await succeed(hold)
  await Promise.all([raw, plain, late].map(end))
  assert.equal(raw.stderr(), 'half way\nnearly\nlast words')
  assert.equal(raw.events.at(-1)?.data.status, 'succeeded')
  assert.doesNotMatch(plain.text(), /stderr|words/)
  assert.deepEqual(plain.statuses(), ['queued 0', 'running 1', 'succeeded 1'])
  assert.match(late.stderr(), /^\|(?:nearly\n)?last words$/)
})

test('stderr is wished for only while somebody with the scope watches', async (t) => {
  const id = await submit()
  const plain = await follow(t, id, { token: reader.token })
  await plain.until('the state', () => plain.events.length > 0)
  const watched = await submit()
  const raw = await follow(t, watched)
  // Whose wish was said later is known: so would be the other's.
  await isWatched(watched)
  assert.equal(sender.isWanted(id), false)
  const stays = await submit()
  await follow(t, stays)
  await isWatched(stays)
  await waitUntil('a renewal for both', () => wishes.at(-1)?.split(',').length === 2)
  raw.abort()
  await waitUntil('a renewal for the one that stays', () => wishes.at(-1) === stays)
})

test('a flood arrives in part, in time, and with a mark', async (t) => {
  const id = await submit()
  const client = await follow(t, id)
  await isWatched(id)
  const hold = await begin(id)
  const live = sender.open({ id, attempt: 1 })
  const startedMs = performance.now()
  for (let index = 0; index < 500; index += 1) live.write(`${index} ${'z'.repeat(2_000)}\n`)
  await client.until('a second of it', () => client.stderr().length > 30_000)
  await live.end()
  await succeed(hold)
  await end(client)
  const seconds = (performance.now() - startedMs) / 1_000
  const chunks = client.events.filter(({ event }) => event === 'stderr')
  assert.ok(chunks.every(({ data }) => Buffer.byteLength(data.text) <= 4_096))
  assert.ok(chunks.length <= 10 * (seconds + 1) + 1, `${chunks.length} chunks in ${seconds} s`)
  assert.ok(chunks.some(({ data }) => data.gap))
  assert.equal(client.events.at(-1)?.data.status, 'succeeded')
})

test('what a key may not see is not there', async (t) => {
  const id = await submit('plain', 'theirs')
  const foreign = await makeKey(pool, { scopes: ['invocations:read'], topics: ['mine'] })
  const noScope = await makeKey(pool, { scopes: ['invocations:raw', 'tools:invoke'] })
  const ask = async (path: string, token: string) =>
    refusalOf(await fetch(`${api.url}/invocations/${path}/events`, { headers: bearer(token) }))
  assert.equal(await ask(id, foreign.token), '404 not_found')
  assert.equal(await ask(`inv_${'0'.repeat(26)}`, admin.token), '404 not_found')
  assert.equal(await ask('x', admin.token), '404 not_found')
  assert.equal(await ask(id, noScope.token), '403 missing_scope')
  const allowed = await follow(t, id, { token: reader.token })
  await allowed.until('the state', () => allowed.events.length > 0)
})

test('a key that is revoked follows nothing after two seconds', async (t) => {
  const key = await makeKey(pool, { scopes: ['invocations:read', 'invocations:raw'] })
  const client = await follow(t, await submit(), { token: key.token })
  await client.until('the state', () => client.events.length > 0)
  await revokeKey(pool, { actor: { kind: 'operator' } }, key.id)
  const revokedMs = performance.now()
  await end(client)
  assert.ok(performance.now() - revokedMs < 2_000)
})

test('a key has so many streams and no more, and each that ends makes room', async (t) => {
  const id = await submit()
  const key = await makeKey(pool, { scopes: ['invocations:read'] })
  const clients = await Promise.all(Array.from({ length: 100 }, () => follow(t, id, { token: key.token })))
  assert.ok(clients.every(({ response }) => response.status === 200))
  const refused = async () => fetch(`${api.url}/invocations/${id}/events`, { headers: bearer(key.token) })
  const answer = await refused()
  assert.equal(answer.headers.get('retry-after'), '5')
  assert.equal(await refusalOf(answer), '429 rate_limited')
  const neighbour = await follow(t, id)
  assert.equal(neighbour.response.status, 200)
  for (const client of clients) client.abort()
  await waitUntil('room', async () => {
    const again = await follow(t, id, { token: key.token })
    again.abort()
    return again.response.status === 200
  })
  // The head alone is an answer without a body: nothing of it stays, however often it is asked for.
  for (let index = 0; index < 120; index += 1) {
    const method = 'HEAD'
    const head = await fetch(`${api.url}/invocations/${id}/events`, { method, headers: bearer(key.token) })
    assert.equal(head.status, 200)
  }
})

test('for a reader that does not read no more is kept than a little, and it is told of the gap', async () => {
  const id = await submit()
  const hold = await begin(id)
  const asked = request(`${api.url}/invocations/${id}/events`, { headers: bearer(admin.token) }).end()
  const { promise, resolve } = Promise.withResolvers<NodeJS.ReadableStream>()
  asked.once('response', (response) => resolve(response.pause()))
  const response = await promise
  await isWatched(id)
  const text = Buffer.from('w'.repeat(4_096)).toString('base64')
  // More than sockets hold, as from a worker that keeps to no limit.
  for (let seq = 0; seq < 3_000; seq += 50)
    await pool.query(
      `select pg_notify('invocations_stderr', $1 || ' 1 ' || n || ' 0 ' || $2)
       from generate_series($3::integer, $3 + 49) as n`,
      [id, text, seq],
    )
  await succeed(hold)
  let read = ''
  for await (const bytes of response) read += String(bytes)
  assert.ok(read.length < 3_000 * 4_096, `${read.length}`)
  assert.match(read, /"gap":true/)
  assert.match(read, /"status":"succeeded"[^\n]*\n\n$/)
})

test('a process that drains ends its streams at once', async (t) => {
  const draining = await testApi({ databaseUrl })
  const id = await submit()
  const client = await follow(t, id, { at: draining })
  await client.until('the state', () => client.events.length > 0)
  const startedMs = performance.now()
  await draining.drain(AbortSignal.timeout(20_000))
  assert.ok(performance.now() - startedMs < 5_000)
  await end(client)
  const back = await follow(t, id, { lastEventId: client.events.at(-1)?.id ?? '' })
  await succeed(await begin(id))
  await end(back)
  assert.deepEqual(back.statuses(), ['running 1', 'succeeded 1'])
})
