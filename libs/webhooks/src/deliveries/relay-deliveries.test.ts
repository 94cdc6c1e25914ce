import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { NewJob } from '@toolyard/queue/stored-job'
import { transaction } from '@toolyard/db/transaction'
import { callBy, makeGround } from '../../fixtures/ground.ts'
import { tellMany } from '../../fixtures/many.ts'
import { startReceiver } from '../../fixtures/receiver.ts'
import { changeWebhook } from '../endpoints/change-webhook.ts'
import { deleteWebhook } from '../endpoints/delete-webhook.ts'
import { getDelivery } from './list-deliveries.ts'
import { receiverOf } from './receiver.ts'
import { relayDeliveries } from './relay-deliveries.ts'

const ground = await makeGround()
const { pool, vault, rules } = ground
const owner = callBy(ground.key)
const url = 'http://127.0.0.1:9/in'

beforeEach(() => ground.clear())

async function relay(): Promise<string[]> {
  const count = await relayDeliveries(pool, ground.deps.queues)
  const jobs = ground.takeJobs()
  assert.equal(jobs.length, count)
  return jobs
}

const statuses = async () => {
  const { rows } = await pool.query<{ line: string }>(
    "select status || ' ' || count(*) as line from deliveries group by status order by status",
  )
  return rows.map(({ line }) => line)
}

test('what the queue never got is brought to it when it is due, under the id that its job would have had', async () => {
  const { webhook } = await ground.addWebhook(url)
  const ids = (await tellMany(pool, 2)).get(webhook.id) ?? []
  await pool.query("update deliveries set tries = 3, due_at = now() + interval '1 minute' where id = $1", [
    ids[1],
  ])
  const jobs: NewJob<'deliveries'>[] = []
  const enqueue: Parameters<typeof relayDeliveries>[1]['enqueue'] = (_, added) => {
    for (const { id } of added) jobs.push({ id, data: { deliveryId: id } })
    return Promise.resolve()
  }
  await relayDeliveries(pool, { enqueue })
  await ground.due(ids[1] ?? '')
  await relayDeliveries(pool, { enqueue })
  assert.deepEqual(
    jobs.map(({ id }) => id),
    [`${ids[0]}-1`, `${ids[1]}-4`, `${ids[0]}-1`],
  )
})

test('a try whose worker is gone is taken back and counts; with the last one the message is dead', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, 3)).get(webhook.id) ?? []
  const lease = (id: string | undefined, tries: number, until: string) =>
    pool.query(
      `update deliveries set status = 'sending', token = gen_random_uuid(), tries = $2, begun_at = now(),
         lease_until = now() + $3::interval where id = $1`,
      [id, tries, until],
    )
  await lease(ids[0], 2, '-1 second')
  await lease(ids[1], 10, '-1 second')
  await lease(ids[2], 1, '1 second')
  assert.deepEqual(await relay(), [ids[0]])
  assert.deepEqual(await statuses(), ['dead 1', 'sending 1', 'waiting 1'])
  const taken = await getDelivery(pool, owner.actor, ids[0] ?? '')
  assert.deepEqual(
    taken.tries.map(({ fault }) => fault),
    ['lost: the worker that made it is gone'],
  )
  await ground.deliver(ids[0] ?? '')
  const delivered = await getDelivery(pool, owner.actor, ids[0] ?? '')
  assert.deepEqual([delivered.status, delivered.tries.length], ['delivered', 2])
  const { rows } = await pool.query('select failing_since from webhooks')
  assert.equal(rows[0].failing_since, null)
})

test('a lease that ends while its try is being written is left to whoever writes it', async () => {
  const { webhook } = await ground.addWebhook(url)
  const id = await ground.endOneFor(webhook)
  await pool.query(
    "update deliveries set status = 'sending', token = gen_random_uuid(), lease_until = now() - interval '1 s' where id = $1",
    [id],
  )
  await transaction(pool, async (sql) => {
    await sql.query('select from deliveries where id = $1 for update', [id])
    assert.deepEqual(await relay(), [])
  })
  assert.deepEqual(await statuses(), ['sending 1'])
})

test('what waits for a webhook that was disabled or removed is dropped at once, and stays so', async () => {
  const [a, b, c] = [await ground.addWebhook(url), await ground.addWebhook(url), await ground.addWebhook(url)]
  const ids = await tellMany(pool, 3)
  // One waits for its next try: it is meant too.
  await pool.query("update deliveries set due_at = now() + interval '1 hour' where id = $1", [
    ids.get(a.webhook.id)?.[1],
  ])
  await changeWebhook({ vault, rules }, owner, a.webhook.id, { enabled: false })
  await deleteWebhook(vault, owner, b.webhook.id)
  assert.deepEqual(await statuses(), ['dropped 6', 'waiting 3'])
  await changeWebhook({ vault, rules }, owner, a.webhook.id, { enabled: true })
  assert.deepEqual((await relay()).toSorted(), ids.get(c.webhook.id))
  assert.deepEqual(await statuses(), ['dropped 6', 'waiting 3'])
})

test('what is not dropped at once, because it is too much, is never sent: not even when the webhook is enabled again', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, 3)).get(webhook.id) ?? []
  // As if dropping had not come so far.
  await pool.query('update webhooks set dropped_at = clock_timestamp() where id = $1', [webhook.id])
  const later = await ground.endOneFor(webhook)
  for (const id of ids) assert.deepEqual(await ground.deliver(id), { kind: 'done' })
  assert.equal(receiver.arrivals.length, 0)
  assert.deepEqual(await relay(), [later])
  assert.deepEqual(await statuses(), ['dropped 3', 'waiting 1'])
  await ground.deliver(later)
  assert.equal(receiver.arrivals.length, 1)
})

test('a finish that was under way when the webhook was disabled tells it nothing', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  await pool.query('update webhooks set enabled = false')
  // As that finish would have written it, from what it saw.
  await pool.query(
    `insert into deliveries (id, webhook_id, key_id, receiver, event, invocation_id, tool, topic)
     values ('msg_' || repeat('0', 33), $1, $2, $3, 'invocation.finished', 'inv_1', 'weather', 'trip')`,
    [webhook.id, ground.key.id, receiverOf(webhook.id)],
  )
  assert.deepEqual(await relay(), [])
  assert.deepEqual(await statuses(), ['dropped 1'])
})

test('what waits for a key that has ended is dropped, callbacks too', async () => {
  const by = await ground.makeKey()
  await ground.addWebhook(url, { by })
  await ground.endOne({ keyId: by.id, callbackUrl: url })
  await pool.query('update api_keys set revoked_at = now() where id = $1', [by.id])
  assert.deepEqual(await relay(), [])
  assert.deepEqual(await statuses(), ['dropped 2'])
})

test('paused webhooks keep what waits, for a week after its time', async () => {
  const { webhook } = await ground.addWebhook(url)
  const ids = (await tellMany(pool, 2)).get(webhook.id) ?? []
  await pool.query("update webhooks set paused_at = now(), paused_reason = 'x'")
  await pool.query("update deliveries set due_at = now() - interval '167 hours'")
  assert.deepEqual(await relay(), [])
  assert.deepEqual(await statuses(), ['waiting 2'])
  await pool.query("update deliveries set due_at = now() - interval '169 hours' where id = $1", [ids[0]])
  assert.deepEqual(await relay(), [])
  assert.deepEqual(await statuses(), ['dropped 1', 'waiting 1'])
})

test('of each receiver only the next are brought: what waits for one does not hide what waits for another', async () => {
  const [crowd, quiet, paused] = [
    await ground.addWebhook(url),
    await ground.addWebhook(url),
    await ground.addWebhook(url),
  ]
  const first = await tellMany(pool, 300)
  await pool.query('delete from deliveries where webhook_id = $1', [quiet.webhook.id])
  await pool.query("update webhooks set paused_at = now(), paused_reason = 'x' where id = $1", [
    paused.webhook.id,
  ])
  const late = await ground.endOneFor(quiet.webhook)
  const crowdIds = first.get(crowd.webhook.id) ?? []
  assert.deepEqual((await relay()).toSorted(), [...crowdIds.slice(0, 4), late].toSorted())
})

test('who names many hosts gets no more jobs than others; every receiver gets its turn', async () => {
  const [crowd, other] = [await ground.makeKey(), await ground.makeKey()]
  await pool.query(
    `insert into deliveries (id, url, key_id, receiver, event, invocation_id, tool, topic)
     select 'msg_' || lpad(n::text, 33, '0'), 'https://h' || n || '.example', $1, md5(n::text), 'invocation.finished',
       'inv_' || n, 'weather', 'trip'
     from generate_series(1, 5000) as n`,
    [crowd.id],
  )
  await pool.query(
    `insert into deliveries (id, url, key_id, receiver, event, invocation_id, tool, topic)
     values ('msg_' || repeat('9', 33), 'https://other.example', $1, md5('other'), 'invocation.finished', 'inv_x', 'weather', 'trip')`,
    [other.id],
  )
  const seen = new Set<string>()
  let runs = 0
  while (!seen.has(`msg_${'9'.repeat(33)}`)) {
    const jobs = await relay()
    assert.ok(jobs.length <= 101)
    for (const id of jobs) seen.add(id)
    // A run sees two fifths of them at least: that none of 40 saw this one has a chance of 1 in 10^8.
    assert.ok(++runs <= 40)
  }
})

test('with nothing to do it brings nothing', async () => {
  assert.deepEqual(await relay(), [])
})

test('what is called a receiver here is called so by the database', async () => {
  const { webhook } = await ground.addWebhook(url)
  await ground.endOneFor(webhook)
  const { rows } = await pool.query('select receiver from deliveries')
  assert.equal(rows[0].receiver, receiverOf(webhook.id))
})
