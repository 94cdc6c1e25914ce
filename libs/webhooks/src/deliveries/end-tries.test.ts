import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { callBy, makeGround } from '../../fixtures/ground.ts'
import { tellMany } from '../../fixtures/many.ts'
import { answer, startReceiver } from '../../fixtures/receiver.ts'
import { changeWebhook } from '../endpoints/change-webhook.ts'
import { getWebhook } from '../endpoints/list-webhooks.ts'
import { toWebhookShape } from '../endpoints/webhook.ts'
import { relayDeliveries } from './relay-deliveries.ts'

const ground = await makeGround()
const { pool, vault, rules } = ground
const owner = callBy(ground.key)

beforeEach(() => ground.clear())

const healthOf = async (id: string) => {
  const { paused, failing_since: since } = toWebhookShape(await getWebhook(pool, owner.actor, id))
  return { paused, since }
}

/** As if it had been failing for so long, and been seen to so long ago. */
const failFor = (id: string, since: string, seen: string) =>
  pool.query(
    `update webhooks set failing_since = clock_timestamp() - $2::interval, failed_at = clock_timestamp() - $3::interval
     where id = $1`,
    [id, since, seen],
  )

test('a webhook to which nothing has arrived for three days is paused, with the reason', async (t) => {
  const receiver = await startReceiver(t, answer(500))
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, 3)).get(webhook.id) ?? []
  await ground.deliver(ids[0] ?? '')
  await failFor(webhook.id, '71 hours 59 minutes', '2 minutes')
  await ground.deliver(ids[1] ?? '')
  assert.equal((await healthOf(webhook.id)).paused, null)
  await failFor(webhook.id, '72 hours 1 minute', '2 minutes')
  await ground.deliver(ids[2] ?? '')
  const { paused, since } = await healthOf(webhook.id)
  assert.equal(paused?.reason, `nothing has arrived since ${since?.slice(0, 19)}Z`)
  assert.ok(Math.abs(new Date(paused.at).getTime() - Date.now()) < 60_000)
})

test('a paused webhook is sent nothing and is told all the same; once resumed it gets what waited', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const before = await ground.endOneFor(webhook)
  await pool.query("update webhooks set paused_at = now(), paused_reason = 'x'")
  const during = await ground.endOneFor(webhook)
  for (const id of [before, during]) assert.deepEqual(await ground.deliver(id), { kind: 'done' })
  assert.equal(await relayDeliveries(pool, ground.deps.queues), 0)
  assert.equal(receiver.arrivals.length, 0)
  await changeWebhook({ vault, rules }, owner, webhook.id, { resume: true })
  assert.deepEqual(await healthOf(webhook.id), { paused: null, since: null })
  assert.equal(await relayDeliveries(pool, ground.deps.queues), 2)
  for (const id of ground.takeJobs()) await ground.deliver(id)
  assert.deepEqual(
    receiver.arrivals.map(({ headers }) => String(headers['webhook-id'])).toSorted(),
    [before, during].toSorted(),
  )
})

for (const [what, change] of [
  ['a new address', { url: 'http://127.0.0.1:9/new' }],
  ['a resumption', { resume: true }],
] as const)
  test(`${what} ends a pause, and another change does not`, async () => {
    const { webhook } = await ground.addWebhook('http://127.0.0.1:9/in')
    await pool.query("update webhooks set paused_at = now(), paused_reason = 'x'")
    await failFor(webhook.id, '4 days', '2 minutes')
    const changed = await changeWebhook({ vault, rules }, owner, webhook.id, { description: 'y' })
    assert.equal(changed.webhook.paused_reason, 'x')
    const { webhook: fresh } = await changeWebhook({ vault, rules }, owner, webhook.id, change)
    assert.deepEqual([fresh.paused_reason, fresh.paused_at, fresh.failing_since], [null, null, null])
  })

test('one arrival ends the failing, however long it was', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  await failFor(webhook.id, '30 days', '2 minutes')
  await ground.deliver(await ground.endOneFor(webhook))
  assert.deepEqual(await healthOf(webhook.id), { paused: null, since: null })
})

test('a webhook that failed long ago and was told nothing since is not paused for its next failure', async (t) => {
  const receiver = await startReceiver(t, answer(500))
  const { webhook } = await ground.addWebhook(receiver.url)
  await failFor(webhook.id, '30 days', '49 hours')
  await ground.deliver(await ground.endOneFor(webhook))
  const { paused, since } = await healthOf(webhook.id)
  assert.equal(paused, null)
  assert.ok(Date.now() - new Date(since ?? 0).getTime() < 60_000)
})

test('a webhook that fails all the time is not written all the time', async (t) => {
  const receiver = await startReceiver(t, answer(500))
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, 5)).get(webhook.id) ?? []
  const versions = new Set<string>()
  for (const id of ids) {
    await ground.deliver(id)
    versions.add(
      (await pool.query('select xmin::text || failed_at as version from webhooks')).rows[0].version,
    )
  }
  assert.equal(versions.size, 1)
})

test('a dead message counts as a failure; one whose webhook was removed meanwhile ends all the same', async (t) => {
  const receiver = await startReceiver(t, answer(500))
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, 2)).get(webhook.id) ?? []
  await pool.query('update deliveries set tries = 9')
  await ground.deliver(ids[0] ?? '')
  assert.equal((await ground.stateOf(ids[0] ?? '')).status, 'dead')
  assert.notEqual((await healthOf(webhook.id)).since, null)
  receiver.behave((response) => {
    pool.query('delete from webhooks').then(() => response.writeHead(500).end(), assert.ifError)
  })
  await pool.query('update deliveries set tries = 3 where id = $1', [ids[1]])
  await ground.deliver(ids[1] ?? '')
  assert.equal((await ground.stateOf(ids[1] ?? '')).status, 'waiting')
  await ground.due(ids[1] ?? '')
  assert.equal(await relayDeliveries(pool, ground.deps.queues), 0)
  assert.equal((await ground.stateOf(ids[1] ?? '')).status, 'dropped')
})
