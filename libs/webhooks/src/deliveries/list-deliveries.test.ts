import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { callBy, makeGround, operator, unreachablePool } from '../../fixtures/ground.ts'
import { tellMany } from '../../fixtures/many.ts'
import { answer, startReceiver } from '../../fixtures/receiver.ts'
import { changeWebhook } from '../endpoints/change-webhook.ts'
import { deleteWebhook } from '../endpoints/delete-webhook.ts'
import { getDelivery, listDeliveries } from './list-deliveries.ts'
import { pruneDeliveries } from './prune-deliveries.ts'
import { retryDelivery } from './retry-delivery.ts'

const ground = await makeGround()
const { pool, vault, rules } = ground
const owner = callBy(ground.key)
const url = 'http://127.0.0.1:9/in'
const hidden = { code: 'not_found', message: 'There is no such delivery' }
const noWebhook = { code: 'not_found', message: 'There is no such webhook' }

beforeEach(() => ground.clear())

test('pages of deliveries hold each once, newest first, with their tries', async (t) => {
  const receiver = await startReceiver(t, answer(500, {}, 'é'.repeat(2_000)))
  const { webhook } = await ground.addWebhook(receiver.url)
  await ground.addWebhook(url)
  const ids = (await tellMany(pool, 5)).get(webhook.id) ?? []
  await ground.deliver(ids[0] ?? '')
  await ground.due(ids[0] ?? '')
  await ground.deliver(ids[0] ?? '')
  const seen = []
  let cursor: string | undefined
  do {
    const page = await listDeliveries(pool, owner.actor, webhook.id, { limit: 2, cursor })
    seen.push(...page.deliveries)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  assert.deepEqual(
    seen.map(({ id }) => id),
    ids.toReversed(),
  )
  const listed = seen.at(-1)
  const shown = await getDelivery(pool, owner.actor, ids[0] ?? '')
  assert.deepEqual(
    [listed, shown].map((one) => one?.tries.map(({ answer: said }) => said?.length)),
    [
      [200, 200],
      [2_000, 2_000],
    ],
  )
  const { tries, ...rest } = shown
  assert.deepEqual(
    tries.map(({ status, fault }) => [status, fault]),
    [
      [500, 'it answered 500'],
      [500, 'it answered 500'],
    ],
  )
  assert.ok(tries.every(({ started_at: at, took_ms: ms }) => new Date(at).toISOString() === at && ms >= 0))
  assert.deepEqual(
    [rest.webhook_id, rest.url, rest.event, rest.tool, rest.topic, rest.status, rest.ended_at],
    [webhook.id, null, 'invocation.finished', 'weather', 'trip', 'waiting', null],
  )
  assert.ok(rest.due_at !== null && rest.invocation_id?.startsWith('inv_'))
})

test('what a webhook was told stays listed when it is gone; what never was is not found', async () => {
  const { webhook } = await ground.addWebhook(url)
  const empty = await listDeliveries(pool, owner.actor, webhook.id)
  assert.deepEqual(empty, { deliveries: [], nextCursor: null })
  const id = await ground.endOneFor(webhook)
  await deleteWebhook(vault, owner, webhook.id)
  const { deliveries } = await listDeliveries(pool, owner.actor, webhook.id)
  assert.deepEqual(
    deliveries.map((one) => [one.id, one.status]),
    [[id, 'dropped']],
  )
  await assert.rejects(listDeliveries(pool, owner.actor, `whk_${'0'.repeat(26)}`), noWebhook)
})

test('a bound key sees its own deliveries alone, by every way', async () => {
  const [mine, theirs] = [
    await ground.makeKey({ topics: ['trip'] }),
    await ground.makeKey({ topics: ['trip'] }),
  ]
  const { webhook } = await ground.addWebhook(url, { by: theirs })
  const { told } = await ground.endOne({ keyId: theirs.id, callbackUrl: url })
  assert.equal(told.length, 2)
  const me = callBy(mine)
  await assert.rejects(listDeliveries(pool, me.actor, webhook.id), noWebhook)
  for (const id of told) {
    await assert.rejects(getDelivery(pool, me.actor, id), hidden)
    await assert.rejects(retryDelivery(pool, me, id), hidden)
    assert.equal((await getDelivery(pool, callBy(theirs).actor, id)).id, id)
    assert.equal((await getDelivery(pool, operator.actor, id)).id, id)
    assert.equal((await getDelivery(pool, owner.actor, id)).id, id)
  }
})

test('what is no id never reaches the database', async () => {
  const none = unreachablePool()
  for (const id of [
    '',
    'msg_',
    `msg_${'a'.repeat(26)}`,
    `msg_${'a'.repeat(26)}000000\0`,
    "msg_' or 1=1",
    'x'.repeat(10_000),
  ]) {
    await assert.rejects(getDelivery(none, owner.actor, id), hidden)
    await assert.rejects(async () => retryDelivery(none, owner, id), hidden)
    await assert.rejects(listDeliveries(none, owner.actor, id), noWebhook)
  }
  const { webhook } = await ground.addWebhook(url)
  await assert.rejects(listDeliveries(none, owner.actor, webhook.id, { cursor: 'x\0' }), {
    code: 'invalid_request',
  })
})

test('a retry sends what is dead, dropped or waits, at once, and its tries count', async (t) => {
  const receiver = await startReceiver(t, answer(500))
  const { webhook } = await ground.addWebhook(receiver.url)
  const id = await ground.endOneFor(webhook)
  await pool.query('truncate audit')
  await ground.deliver(id)
  assert.deepEqual(await retryDelivery(pool, owner, id), { id, tries: 1 })
  assert.ok((await ground.stateOf(id)).due_in_s <= 0)
  await pool.query("update deliveries set status = 'dead', ended_at = now(), tries = 10")
  assert.deepEqual(await retryDelivery(pool, owner, id), { id, tries: 10 })
  await ground.deliver(id)
  assert.deepEqual([(await ground.stateOf(id)).status, (await ground.stateOf(id)).tries], ['dead', 11])
  receiver.behave(answer(204))
  await retryDelivery(pool, owner, id)
  await ground.deliver(id)
  assert.equal((await ground.stateOf(id)).status, 'delivered')
  const { rows } = await pool.query('select action, target from audit')
  const retried = { action: 'delivery.retry', target: `delivery:${id}` }
  assert.deepEqual(rows, [retried, retried, retried])
})

test('what a disabled webhook was not told can be sent once it is enabled', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const id = await ground.endOneFor(webhook)
  const change = (enabled: boolean) => changeWebhook({ vault, rules }, owner, webhook.id, { enabled })
  await change(false)
  const closed = {
    code: 'webhook_inactive',
    message: 'Its webhook is disabled, paused or gone: resume or enable it first',
  }
  await assert.rejects(retryDelivery(pool, owner, id), closed)
  await change(true)
  await pool.query("update webhooks set paused_at = now(), paused_reason = 'x'")
  await assert.rejects(retryDelivery(pool, owner, id), closed)
  await changeWebhook({ vault, rules }, owner, webhook.id, { resume: true })
  await retryDelivery(pool, owner, id)
  await ground.deliver(id)
  assert.equal(receiver.arrivals.length, 1)
})

for (const [what, change, code, message] of [
  ['was delivered', "status = 'delivered', ended_at = now()", 'already_final', 'It has been delivered'],
  [
    'is being sent',
    "status = 'sending', token = gen_random_uuid(), lease_until = now() + interval '1 minute'",
    'being_sent',
    'It is being sent',
  ],
  [
    'tells of what is kept no longer',
    "invocation_id = 'inv_gone'",
    'not_kept',
    'The invocation that it tells of is kept no longer',
  ],
  [
    'belongs to a key that is no more',
    "key_id = 'gone'",
    'key_inactive',
    'Its key has expired or was revoked',
  ],
] as const)
  test(`what ${what} is not sent again`, async () => {
    const { webhook } = await ground.addWebhook(url)
    const id = await ground.endOneFor(webhook)
    await pool.query(`update deliveries set ${change}`)
    await assert.rejects(retryDelivery(pool, owner, id), { code, message })
  })

test('a message whose invocation is kept no longer is dropped when its try comes', async () => {
  const { webhook } = await ground.addWebhook(url)
  const id = await ground.endOneFor(webhook)
  await pool.query('delete from invocations')
  assert.deepEqual(await ground.deliver(id), { kind: 'done' })
  assert.equal((await ground.stateOf(id)).status, 'dropped')
})

test('what ended 30 days ago is forgotten with its tries; what waits, and what ended later, is kept', async () => {
  const insert = `
    insert into deliveries (id, url, key_id, receiver, event, invocation_id, tool, topic, status, ended_at)
    values ($1, 'u', 'k', 'r', 'invocation.finished', $1, 'weather', 'trip', $2, now() - $3::interval)`
  const old = (n: number) => `msg_0${String(n).padStart(32, '0')}`
  for (let n = 0; n < 1_200; n++)
    await pool.query(insert, [old(n), n % 2 === 0 ? 'dead' : 'delivered', '30 days 1 minute'])
  await pool.query(insert, [old(2_000), 'delivered', '29 days'])
  await pool.query(insert, [old(2_001), 'waiting', null])
  await pool.query(
    `insert into delivery_tries (delivery_id, try, started_at, took_ms)
     select id, n, now(), 1 from deliveries cross join generate_series(1, 2) as n`,
  )
  const { webhook } = await ground.addWebhook(url)
  const fresh = await ground.endOneFor(webhook)
  assert.equal(await pruneDeliveries(pool, 30), 1_200)
  const { rows } = await pool.query<{ id: string }>('select id from deliveries order by id')
  assert.deepEqual(
    rows.map(({ id }) => id),
    [old(2_000), old(2_001), fresh],
  )
  assert.equal((await pool.query('select from delivery_tries')).rowCount, 4)
  assert.equal(await pruneDeliveries(pool, 30), 0)
})
