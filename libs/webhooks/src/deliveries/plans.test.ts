import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { readsOf } from '@toolyard/testkit/plans'
import { rememberingPool } from '@toolyard/testkit/remembering-pool'
import { callBy, makeGround, nobody } from '../../fixtures/ground.ts'
import { closedOne } from '../../fixtures/many.ts'
import { startReceiver } from '../../fixtures/receiver.ts'
import { createDeliverer } from './create-deliverer.ts'
import { newIdStem } from './delivery.ts'
import { dropVoid } from './drop-void.ts'
import { listDeliveries, listDeliveriesOf } from './list-deliveries.ts'
import { pruneDeliveries } from './prune-deliveries.ts'
import { receiverOf } from './receiver.ts'
import { relayDeliveries } from './relay-deliveries.ts'
import { retryDelivery } from './retry-delivery.ts'
import { writeDeliveries } from './write-deliveries.ts'

// That the statements of every day read by the indexes which their comments name, and no large table whole: with 60,000
// deliveries of which one receiver alone has 3,000 that wait.

const ground = await makeGround()
const { pool, vault, key } = ground
const owner = callBy(key)
const remembering = rememberingPool(ground.database.url)
const own = { ...vault, pool: remembering.pool }
const crowd = 'whk_00000000000000000000000001'

before(async () => {
  await pool.query(
    `insert into webhooks (id, key_id, url, description, events)
     select 'whk_' || lpad(n::text, 26, '0'), $1, 'http://127.0.0.1:9/', '', '{prompt.created}' from generate_series(1, 90) as n`,
    [key.id],
  )
  await pool.query(
    `insert into deliveries (id, webhook_id, key_id, receiver, event, invocation_id, tool, topic, status, tries, begun_at,
       ended_at, created_at)
     select $2 || lpad(n::text, 7, '0'), webhook, $1, md5(webhook), 'invocation.finished', 'inv_' || n, 'weather',
       'trip', status, tries, case when tries > 0 then now() - interval '1 hour' end,
       case when status <> 'waiting' then now() - interval '1 hour' end, now() - interval '1 hour'
     from (
       select n, 'whk_' || lpad((1 + case when n <= 3000 then 0 else n % 90 end)::text, 26, '0') as webhook,
         case when n <= 3000 or n % 60 = 0 then 'waiting' else 'delivered' end as status,
         case when n <= 3000 or n % 60 = 0 then 0 else 1 end as tries
       from generate_series(1, 60000) as n) as made`,
    [key.id, newIdStem()],
  )
  await pool.query(
    `insert into delivery_tries (delivery_id, try, started_at, took_ms, status_code, answer)
     select id, 1, now(), 3, 204, repeat('x', 100) from deliveries where tries > 0`,
  )
  await pool.query(
    `insert into invocation_inputs (id, params, telemetry, metadata) select 'inv_' || n, '{}', '{}', '{}'
     from generate_series(1, 60000) as n`,
  )
  await pool.query('vacuum analyze invocation_inputs, deliveries, delivery_tries, webhooks, api_keys')
})

/** Checks what was asked since the last time: each statement that names the table reads it by indexes alone. */
async function assertIndexed(...indexes: string[]): Promise<void> {
  const missing = new Set(indexes)
  const statements = remembering.take().filter(({ text }) => /deliver(?:ies|y_tries)/.test(text))
  assert.ok(statements.length > 0)
  for (const statement of statements) {
    const { own: reads, generic } = await readsOf(pool, statement)
    for (const [what, by] of Object.entries({ reads, generic })) {
      for (const table of ['deliveries', 'delivery_tries'])
        assert.ok(!by.has(`whole ${table}`), `${what}: ${statement.text}`)
      for (const index of by) missing.delete(index.replace('index ', ''))
    }
  }
  assert.deepEqual([...missing], [])
}

test('a try from its look to the call of the next', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const id = await ground.endOneFor(webhook)
  remembering.take()
  assert.deepEqual(await createDeliverer({ ...ground.deps, vault: own })(id, nobody), { kind: 'done' })
  assert.equal(receiver.arrivals.length, 1)
  await assertIndexed(
    'deliveries_pkey',
    'deliveries_waiting',
    'deliveries_parked',
    'deliveries_sending',
    'deliveries_begun',
  )
})

test('a look at one of many that wait', async () => {
  const { rows } = await pool.query<{ id: string }>(
    "select id from deliveries where receiver = $1 and status = 'waiting' order by due_at desc limit 1",
    [receiverOf(crowd)],
  )
  await pool.query("update webhooks set paused_at = now(), paused_reason = 'x' where id = $1", [crowd])
  await createDeliverer({ ...ground.deps, vault: own })(rows[0]?.id ?? '', nobody)
  await assertIndexed('deliveries_pkey', 'deliveries_waiting')
})

test('the relay, and what drops', async () => {
  await relayDeliveries(remembering.pool, ground.deps.queues)
  await assertIndexed('deliveries_waiting', 'deliveries_sending')
  await dropVoid(remembering.pool, receiverOf(crowd))
  await assertIndexed('deliveries_waiting', 'deliveries_pkey')
})

test('lists, retries and pruning', async () => {
  const { deliveries } = await listDeliveries(remembering.pool, owner.actor, crowd)
  await assertIndexed('deliveries_by_webhook', 'delivery_tries_pkey')
  await listDeliveriesOf(remembering.pool, owner.actor, 'inv_7')
  await assertIndexed('deliveries_once', 'delivery_tries_pkey')
  await retryDelivery(remembering.pool, owner, deliveries[0]?.id ?? '').catch(() => {})
  await assertIndexed('deliveries_pkey')
  await pruneDeliveries(remembering.pool, 30)
  await assertIndexed('deliveries_pkey', 'delivery_tries_pkey')
})

test('what a finish asks', async () => {
  await writeDeliveries(remembering.pool, [closedOne({ id: 'inv_plan' })])
  const [statement] = remembering.take()
  assert.ok(statement)
  const { own: reads, generic } = await readsOf(pool, statement)
  for (const by of [reads, generic]) {
    assert.ok(!by.has('whole deliveries') && !by.has('whole invocation_inputs'), [...by].join())
    assert.ok(by.has('index invocation_inputs_pkey'))
  }
})
