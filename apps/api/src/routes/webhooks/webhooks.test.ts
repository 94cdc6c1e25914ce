import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '@toolyard/contract/scopes'
import { callbackSecretShape, deliveryShape, webhookShape } from '@toolyard/contract/webhooks'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { callerOf } from '../../fixtures/caller.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl, webhookPorts: [9_443] })
const admin = await makeKey(pool, { scopes: [...scopes] })
const bound = await makeKey(pool, {
  scopes: ['webhooks:manage', 'tools:invoke', 'invocations:read'],
  topics: ['trip'],
  tools: ['plain'],
})
await publishTools(pool, [newManifest('plain')])

const secret = z.string().regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
const webhook = webhookShape.strict()
const shown = webhook.extend({ secret })
const wanted = { url: 'https://receiver.example.com/in', events: ['invocation.finished'] }

const call = callerOf(api.url, admin.token)

const make = async (body: object = wanted, token = admin.token) =>
  bodyOf(await call('POST', '/webhooks', body, token), shown)

test('a webhook is made, shown without its secret, changed, rotated, and removed', async () => {
  const answer = await call('POST', '/webhooks', { ...wanted, description: 'mine', tools: ['plain'] })
  assert.equal(answer.status, 201)
  const { secret: first, ...made } = await bodyOf(answer, shown)
  assert.equal(answer.headers.get('location'), `/webhooks/${made.id}`)
  assert.deepEqual(await bodyOf(await call('GET', `/webhooks/${made.id}`), webhook), made)
  const changed = await bodyOf(
    await call('PATCH', `/webhooks/${made.id}`, { enabled: false, tools: null }),
    webhook,
  )
  assert.deepEqual([changed.enabled, changed.tools, changed.description], [false, null, 'mine'])
  const rotated = await bodyOf(await call('PATCH', `/webhooks/${made.id}`, { rotate_secret: true }), shown)
  assert.notEqual(rotated.secret, first)
  assert.ok(Date.parse(rotated.rotated_until ?? '') > Date.now() + 86_000_000)
  assert.equal((await call('DELETE', `/webhooks/${made.id}`)).status, 204)
  for (const method of ['GET', 'DELETE'])
    assert.equal(await refusalOf(await call(method, `/webhooks/${made.id}`)), '404 not_found')
  assert.equal(
    await refusalOf(await call('PATCH', `/webhooks/${made.id}`, { enabled: true })),
    '404 not_found',
  )
  const kept = await pool.query('select from vault_settings where tool = $1', [`webhook:${made.id}`])
  assert.equal(kept.rowCount, 0)
})

test('what could not be sent, and what says nothing clear, is refused with the field', async () => {
  for (const [body, pointer] of [
    [{ ...wanted, url: 'http://receiver.example.com' }, '/url'],
    [{ ...wanted, url: 'https://10.0.0.1/in' }, '/url'],
    [{ ...wanted, url: 'https://receiver.example.com:9444/in' }, '/url'],
    [{ ...wanted, url: 'https://user:pass@receiver.example.com/in' }, '/url'],
    [{ ...wanted, url: '' }, '/url'],
    [{ ...wanted, events: [] }, '/events'],
    [{ ...wanted, events: ['invocation.finished', 'invocation.finished'] }, '/events'],
    [{ ...wanted, events: ['all'] }, '/events/0'],
    [{ ...wanted, tools: ['No Tool'] }, '/tools/0'],
    [{ ...wanted, secret: 'mine' }, '/secret'],
  ] as const) {
    const problem = await problemOf(await call('POST', '/webhooks', body))
    assert.deepEqual([problem.status, problem.faults?.[0]?.pointer], [422, pointer], JSON.stringify(body))
  }
  assert.equal((await make({ ...wanted, url: 'https://receiver.example.com:9443/in' })).enabled, true)
  const { id } = await make()
  for (const change of [
    {},
    { url: 'https://localhost' },
    { resume: false },
    { rotate_secret: false },
    { id: 'x' },
  ])
    assert.equal(await refusalOf(await call('PATCH', `/webhooks/${id}`, change)), '422 invalid_request')
})

test('a bound key makes what lies within its bindings, and sees and touches its own alone', async () => {
  const foreign = await make()
  const own = await make({ ...wanted, topics: ['trip'] }, bound.token)
  for (const body of [
    { ...wanted, topics: ['other'] },
    { ...wanted, tools: ['other'] },
  ])
    assert.equal(await refusalOf(await call('POST', '/webhooks', body, bound.token)), '422 invalid_request')
  const change = await call('PATCH', `/webhooks/${own.id}`, { topics: ['other'] }, bound.token)
  assert.equal(await refusalOf(change), '422 invalid_request')
  const page = z.strictObject({ webhooks: z.array(webhook), next_cursor: z.string().nullable() })
  const seen = await bodyOf(await call('GET', '/webhooks', undefined, bound.token), page)
  assert.deepEqual(
    seen.webhooks.map(({ id }) => id),
    [own.id],
  )
  for (const [method, path, body] of [
    ['GET', `/webhooks/${foreign.id}`, undefined],
    ['PATCH', `/webhooks/${foreign.id}`, { enabled: false }],
    ['DELETE', `/webhooks/${foreign.id}`, undefined],
  ] as const)
    assert.equal(await refusalOf(await call(method, path, body, bound.token)), '404 not_found', method)
  assert.equal((await bodyOf(await call('GET', `/webhooks/${foreign.id}`), webhook)).enabled, true)
})

test('lists come in pages, newest first', async () => {
  const made = [await make(), await make(), await make()].map(({ id }) => id).toReversed()
  const page = z.strictObject({ webhooks: z.array(webhook), next_cursor: z.string().nullable() })
  const first = await bodyOf(await call('GET', '/webhooks?limit=2'), page)
  const second = await bodyOf(await call('GET', `/webhooks?limit=1&cursor=${first.next_cursor}`), page)
  assert.deepEqual(
    [...first.webhooks, ...second.webhooks].map(({ id }) => id),
    made,
  )
  assert.equal(await refusalOf(await call('GET', '/webhooks?cursor=x')), '422 invalid_request')
  assert.equal(await refusalOf(await call('GET', '/webhooks?limit=0')), '422 invalid_request')
})

test('each route asks for its scope', async () => {
  const { token } = await makeKey(pool, { scopes: ['invocations:read'] })
  for (const [method, path, body] of [
    ['POST', '/webhooks', wanted],
    ['GET', '/webhooks', undefined],
    ['GET', '/webhooks/x', undefined],
    ['PATCH', '/webhooks/x', { enabled: true }],
    ['DELETE', '/webhooks/x', undefined],
    ['GET', '/webhooks/x/deliveries', undefined],
    ['GET', '/deliveries/x', undefined],
    ['POST', '/deliveries/x/retry', undefined],
    ['GET', '/webhooks/callback-secret', undefined],
    ['POST', '/webhooks/callback-secret', undefined],
  ] as const) {
    assert.equal(
      await refusalOf(await call(method, path, body, token)),
      '403 missing_scope',
      `${method} ${path}`,
    )
    assert.equal(
      await refusalOf(await call(method, path, body, 'yk_x')),
      '401 unauthenticated',
      `${method} ${path}`,
    )
  }
})

test('a callback needs a secret of its key and an address that something may be sent to', async () => {
  const invoke = (body: object) =>
    call('POST', '/tools/plain/invoke', { params: { zeta: 'x' }, ...body }, bound.token)
  const state = async () =>
    bodyOf(
      await call('GET', '/webhooks/callback-secret', undefined, bound.token),
      callbackSecretShape.strict(),
    )
  assert.deepEqual(await state(), { exists: false, rotated_until: null })
  const callback = { callback_url: 'https://receiver.example.com/cb' }
  const refused = await problemOf(await invoke(callback))
  assert.deepEqual(
    [refused.status, refused.code, refused.faults?.[0]?.pointer],
    [409, 'not_configured', '/callback_url'],
  )
  const first = await call('POST', '/webhooks/callback-secret', undefined, bound.token)
  assert.equal(first.status, 201)
  assert.equal(z.object({ secret }).parse(await first.json()).secret.length, 50)
  assert.deepEqual(await state(), { exists: true, rotated_until: null })
  assert.equal((await invoke(callback)).status, 202)
  const inside = await problemOf(await invoke({ callback_url: 'https://169.254.169.254/' }))
  assert.deepEqual([inside.status, inside.faults?.[0]?.pointer], [422, '/callback_url'])
  await call('POST', '/webhooks/callback-secret', undefined, bound.token)
  assert.notEqual((await state()).rotated_until, null)
})

test('deliveries are listed with their tries, shown, and sent once more by hand', async () => {
  const { id } = await make()
  const delivery = 'msg_01k000000000000000000000aa0000001'
  await pool.query(
    `insert into deliveries (id, webhook_id, key_id, receiver, event, data, tool, topic, status, tries, ended_at)
    values ($1, $2, $3, $2, 'tool.image_failed', '{}', 'plain', 'trip', 'dead', 10, now())`,
    [delivery, id, admin.id],
  )
  await pool.query(
    `insert into delivery_tries (delivery_id, try, started_at, took_ms, status_code, fault, answer)
    values ($1, 10, now(), 12, 500, 'it answered 500', 'oops')`,
    [delivery],
  )
  const page = z.strictObject({
    deliveries: z.array(deliveryShape.strict()),
    next_cursor: z.string().nullable(),
  })
  const { deliveries } = await bodyOf(await call('GET', `/webhooks/${id}/deliveries`), page)
  assert.deepEqual(
    deliveries.map((one) => [one.id, one.status, one.tries[0]?.status]),
    [[delivery, 'dead', 500]],
  )
  for (const path of [`/deliveries/${delivery}`, '/deliveries/msg_x', '/deliveries/%00'])
    assert.equal((await call('GET', path, undefined, bound.token)).status, 404, path)
  const again = await call('POST', `/deliveries/${delivery}/retry`)
  assert.equal(again.status, 202)
  assert.equal((await bodyOf(again, deliveryShape.strict())).status, 'waiting')
  assert.equal((await api.queues.counts('deliveries')).waiting, 1)
  await pool.query("update deliveries set status = 'delivered', ended_at = now() where id = $1", [delivery])
  const retried = async () => refusalOf(await call('POST', `/deliveries/${delivery}/retry`))
  assert.equal(await retried(), '409 already_final')
  await pool.query(
    `update deliveries set status = 'sending', ended_at = null, token = gen_random_uuid(), lease_until = now()
     where id = $1`,
    [delivery],
  )
  assert.equal(await retried(), '409 being_sent')
  await pool.query(
    `update deliveries set status = 'dropped', ended_at = now(), token = null, lease_until = null where id = $1`,
    [delivery],
  )
  await call('DELETE', `/webhooks/${id}`)
  assert.equal(await retried(), '409 webhook_inactive')
})

const deliveryPage = z.strictObject({
  deliveries: z.array(deliveryShape.strict()),
  next_cursor: z.string().nullable(),
})

/** An invocation of this key, and one message to its callback that was given up. */
async function callbackOf({ token, id: keyId }: { token: string; id: string }, number: number) {
  const answer = await call('POST', '/tools/plain/invoke', { params: { zeta: 'x' }, topic: 'trip' }, token)
  const { id } = await bodyOf(answer, z.looseObject({ id: z.string() }))
  const delivery = `msg_01k000000000000000000000cb000000${number}`
  await pool.query(
    `insert into deliveries (id, key_id, url, receiver, event, invocation_id, tool, topic, status, tries, ended_at)
     values ($1, $2, 'https://receiver.example.com/cb', 'r', 'invocation.finished', $3, 'plain', 'trip', 'dead', 10, now())`,
    [delivery, keyId, id],
  )
  return { id, delivery }
}

test('the callbacks of an invocation are listed, shown and sent once more by the key that asked for them', async () => {
  const own = { scopes: ['tools:invoke', 'invocations:read'] as const, topics: ['trip'], tools: ['plain'] }
  const caller = await makeKey(pool, { ...own, scopes: [...own.scopes] })
  const { id, delivery } = await callbackOf(caller, 1)
  const by = (token: string) => ({
    list: (query = '') => call('GET', `/invocations/${id}/deliveries${query}`, undefined, token),
    show: () => call('GET', `/deliveries/${delivery}`, undefined, token),
    retry: () => call('POST', `/deliveries/${delivery}/retry`, undefined, token),
  })
  const mine = by(caller.token)
  const { deliveries, next_cursor } = await bodyOf(await mine.list(), deliveryPage)
  assert.deepEqual(
    [deliveries.map((one) => [one.id, one.invocation_id, one.status]), next_cursor],
    [[[delivery, id, 'dead']], null],
  )
  assert.equal(
    (await bodyOf(await mine.show(), deliveryShape.strict())).url,
    'https://receiver.example.com/cb',
  )

  // One that may see the invocation, and not where another key is told.
  const neighbour = by((await makeKey(pool, { ...own, scopes: [...own.scopes] })).token)
  assert.deepEqual(await bodyOf(await neighbour.list(), deliveryPage), { deliveries: [], next_cursor: null })
  for (const request of [neighbour.show, neighbour.retry])
    assert.equal(await refusalOf(await request()), '404 not_found')
  const manager = by(admin.token)
  assert.equal((await bodyOf(await manager.list(), deliveryPage)).deliveries.length, 1)

  const stranger = by((await makeKey(pool, { scopes: ['invocations:read'], topics: ['other'] })).token)
  assert.equal(await refusalOf(await stranger.list()), '404 not_found')
  assert.equal(await refusalOf(await stranger.show()), '403 missing_scope')
  const invoker = by((await makeKey(pool, { scopes: ['tools:invoke'] })).token)
  assert.equal(await refusalOf(await invoker.list()), '403 missing_scope')
  for (const unknown of ['inv_01k00000000000000000000000', 'x', '%00'])
    assert.equal(await refusalOf(await call('GET', `/invocations/${unknown}/deliveries`)), '404 not_found')
  assert.equal(await refusalOf(await mine.list('?cursor=x')), '422 invalid_request')

  const retried = await mine.retry()
  assert.equal(retried.status, 202)
  assert.equal((await bodyOf(retried, deliveryShape.strict())).status, 'waiting')
})

test('a key that does not manage webhooks sees callbacks alone, also where a webhook is its own', async () => {
  const { id, delivery } = await callbackOf(admin, 2)
  const reader = await makeKey(pool, { scopes: ['invocations:read', 'tools:invoke'] })
  const told = 'msg_01k000000000000000000000cb0000003'
  await pool.query(
    `insert into deliveries (id, webhook_id, key_id, receiver, event, invocation_id, tool, topic, status, ended_at)
     values ($1, 'whk_3', $2, 'r', 'invocation.finished', $3, 'plain', 'trip', 'delivered', now())`,
    [told, reader.id, id],
  )
  const path = `/invocations/${id}/deliveries`
  assert.deepEqual(
    (await bodyOf(await call('GET', path, undefined, reader.token), deliveryPage)).deliveries,
    [],
  )
  const hidden = await call('GET', `/deliveries/${told}`, undefined, reader.token)
  assert.equal(await refusalOf(hidden), '404 not_found')
  const first = await bodyOf(await call('GET', `${path}?limit=1`), deliveryPage)
  const second = await bodyOf(await call('GET', `${path}?limit=1&cursor=${first.next_cursor}`), deliveryPage)
  assert.deepEqual(
    [...first.deliveries, ...second.deliveries].map((one) => one.id),
    [told, delivery],
  )
  assert.equal(second.next_cursor, null)
})

test('who only manages webhooks takes over none, and is told of no results', async () => {
  const { id } = await make()
  const intruder = await makeKey(pool, { scopes: ['webhooks:manage'] })
  const taken = await problemOf(
    await call('PATCH', `/webhooks/${id}`, { url: wanted.url, rotate_secret: true }, intruder.token),
  )
  assert.deepEqual(
    [taken.status, taken.code, taken.faults?.map(({ pointer }) => pointer)],
    [403, 'missing_scope', ['/url', '/rotate_secret']],
  )
  const told = await problemOf(await call('POST', '/webhooks', wanted, intruder.token))
  assert.deepEqual([told.status, told.code, told.faults?.[0]?.pointer], [403, 'missing_scope', '/events/0'])
  assert.match(told.faults?.[0]?.detail ?? '', /invocations:read/)
  assert.equal((await call('PATCH', `/webhooks/${id}`, { enabled: false }, intruder.token)).status, 200)
  assert.equal((await call('DELETE', `/webhooks/${id}`, undefined, intruder.token)).status, 204)
})
