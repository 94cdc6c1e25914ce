import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { callBy, makeGround, nobody } from '../../fixtures/ground.ts'
import { tellMany } from '../../fixtures/many.ts'
import { answer, hang, startReceiver } from '../../fixtures/receiver.ts'
import { startWorkers } from '../../fixtures/workers.ts'
import { renewCallbackSecret } from '../endpoints/callback-secret.ts'
import { callNext } from './call-next.ts'
import { createDeliverer } from './create-deliverer.ts'
import { deliveriesMax } from './handle-delivery-jobs.ts'
import { relayDeliveries } from './relay-deliveries.ts'

const ground = await makeGround()
const { pool } = ground

beforeEach(() => ground.clear())

const parked = async () =>
  (
    await pool.query<{ id: string }>("select id from deliveries where parked_by = 'receiver' order by id")
  ).rows.map(({ id }) => id)

const underWay = async () =>
  (await pool.query<{ n: number }>("select count(*)::int as n from deliveries where status = 'sending'"))
    .rows[0]?.n

test('a receiver that hangs has four messages under way and no jobs that come back; another is served at once', async (t) => {
  const hanging = await startReceiver(t, hang)
  const prompt = await startReceiver(t)
  const slow = await ground.addWebhook(hanging.url)
  const fast = await ground.addWebhook(prompt.url)
  const ids = await tellMany(pool, 40)
  const workers = await startWorkers(ground, { processes: 3, concurrency: 6 })
  workers.add(ids.get(slow.webhook.id) ?? [])
  await waitUntil('four to be under way', () => hanging.arrivals.length === 4)
  workers.add(ids.get(fast.webhook.id) ?? [])
  const addedAtMs = performance.now()
  await waitUntil('the other to be told all', () => prompt.arrivals.length === 40)
  const lastAtMs = prompt.arrivals.at(-1)?.atMs ?? Infinity
  assert.ok(lastAtMs - addedAtMs < 5_000, String(lastAtMs - addedAtMs))
  await waitUntil('what it was told to be noted', async () => (await underWay()) === 4)
  assert.equal(hanging.arrivals.length, 4)
  assert.ok(prompt.atOnceMax() <= 4)
  // Each was looked at a few times; those of the one that hangs do not turn in circles.
  assert.ok(workers.runCount() < 400, String(workers.runCount()))
  const stopped = workers.stop()
  hanging.hangUp()
  await stopped
  assert.deepEqual(workers.errors, [])
})

test('at most fifty messages a second begin for one receiver, from several processes, and all arrive', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, 120)).get(webhook.id) ?? []
  const workers = await startWorkers(ground, { processes: 3, concurrency: 6 })
  workers.add(ids)
  const relay = () => relayDeliveries(pool, { enqueue: () => Promise.resolve() })
  await waitUntil('all to arrive', () => receiver.arrivals.length === 120, 20_000)
  await waitUntil('all to be noted', async () => (await underWay()) === 0)
  assert.equal(await relay(), 0)
  assert.equal(new Set(receiver.arrivals.map(({ headers }) => headers['webhook-id'])).size, 120)
  const { rows } = await pool.query<{ most: number }>(
    `select max(n)::int as most from (
       select count(*) over (order by begun_at range between interval '999 ms' preceding and current row) as n
       from deliveries) as windows`,
  )
  assert.ok((rows[0]?.most ?? 99) <= 50, String(rows[0]?.most))
  assert.ok(receiver.atOnceMax() <= 4)
  assert.ok(workers.runCount() < 1_200, String(workers.runCount()))
  await workers.stop()
  assert.deepEqual(workers.errors, [])
})

test('a receiver that fails gets one message at a time, until one arrives', async (t) => {
  const receiver = await startReceiver(t, answer(500))
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, 12)).get(webhook.id) ?? []
  await pool.query("update deliveries set parked_by = 'receiver' where id <> $1", [ids[0]])
  await ground.deliver(ids[0] ?? '')
  // One is called, and no more.
  assert.deepEqual(ground.takeJobs(), [ids[1]])
  receiver.behave(hang)
  const workers = await startWorkers(ground, { processes: 2, concurrency: 6 })
  workers.add(ids.slice(1))
  await waitUntil('the next', () => receiver.arrivals.length === 2)
  await waitUntil('the others to leave the queue', async () => (await parked()).length === 10)
  // It is started before that is committed.
  await waitUntil('it to be noted', async () => (await underWay()) === 1)
  assert.equal(receiver.arrivals.length, 2)
  const stopped = workers.stop()
  receiver.hangUp()
  await stopped
})

test('a callback host that fails gets one message at a time too, until one arrives; another host of its key has all', async (t) => {
  const [receiver, well] = [await startReceiver(t, answer(500)), await startReceiver(t, hang)]
  for (const { port } of [receiver, well]) ground.allowPort(port)
  await renewCallbackSecret(ground.vault, callBy(ground.key))
  const tell = async (callbackUrl: string, count: number) => {
    const ids: string[] = []
    for (let n = 0; n < count; n++)
      ids.push(...(await ground.endOne({ keyId: ground.key.id, callbackUrl })).told)
    return ids
  }
  const ids = await tell(receiver.url, 9)
  const others = await tell(well.url, 5)
  await pool.query("update deliveries set parked_by = 'receiver' where id = any($1)", [ids.slice(1)])
  await ground.deliver(ids[0] ?? '')
  assert.deepEqual(ground.takeJobs(), [ids[1]])
  receiver.behave(hang)
  const workers = await startWorkers(ground, { concurrency: 12 })
  // The one that failed comes again before the others.
  await ground.due(ids[0] ?? '')
  workers.add([...ids, ...others])
  await waitUntil('the others to leave the queue', async () => (await parked()).length === 9)
  await waitUntil('them to be noted', async () => (await underWay()) === 5)
  assert.deepEqual([receiver.arrivals.length, well.arrivals.length], [2, 4])
  receiver.behave(answer(204))
  receiver.hangUp()
  await waitUntil('one to arrive, and the rest', () => receiver.arrivals.length >= 10)
  const stopped = workers.stop()
  well.hangUp()
  await stopped
})

test('whomever one key names, and however many of them hang, a worker has places for other keys', async (t) => {
  const [hanging, prompt] = [await startReceiver(t, hang), await startReceiver(t)]
  const [crowd, other] = [await ground.makeKey(), await ground.makeKey()]
  for (let n = 0; n < 20; n++) await ground.addWebhook(`${hanging.url}/${n}`, { by: crowd })
  const single = await ground.addWebhook(prompt.url, { by: other })
  const told = await tellMany(pool, 4)
  const own = told.get(single.webhook.id) ?? []
  told.delete(single.webhook.id)
  const workers = await startWorkers(ground, { concurrency: deliveriesMax })
  workers.add([...told.values()].flat())
  await waitUntil('all places of the key to be taken', () => hanging.arrivals.length === 64, 10_000)
  const addedAtMs = performance.now()
  workers.add(own)
  await waitUntil('the other key to be told', () => prompt.arrivals.length === 4)
  assert.ok((prompt.arrivals.at(-1)?.atMs ?? Infinity) - addedAtMs < 2_000)
  const stopped = workers.stop()
  hanging.hangUp()
  await stopped
})

test('a key has places for 64 messages, whomever it names; other keys have theirs, and its ends call its own', async (t) => {
  const receiver = await startReceiver(t)
  const [crowd, other] = [await ground.makeKey(), await ground.makeKey()]
  const own: string[] = []
  for (let n = 0; n < 18; n++)
    own.push((await ground.addWebhook(`${receiver.url}/${n}`, { by: crowd })).webhook.id)
  const single = await ground.addWebhook(receiver.url, { by: other })
  const told = await tellMany(pool, 5)
  const idOf = (webhook: number, n: number) => told.get(own[webhook] ?? '')?.[n] ?? ''
  // Of sixteen, four each.
  await pool.query(
    `update deliveries set status = 'sending', token = gen_random_uuid(), lease_until = now() + interval '1 minute'
     where webhook_id = any($1) and id <> all($2)`,
    [own.slice(0, 16), own.slice(0, 16).map((_, n) => idOf(n, 4))],
  )
  const underWayOfAll = await underWay()
  assert.equal(underWayOfAll, 64)
  // One waits for its receiver, two for the key.
  for (const id of [idOf(0, 4), idOf(16, 0), idOf(17, 0)])
    assert.deepEqual(await ground.deliver(id), { kind: 'done' })
  const { rows } = await pool.query(
    'select id, parked_by from deliveries where parked_by is not null order by id',
  )
  const expected = [
    { id: idOf(0, 4), parked_by: 'receiver' },
    { id: idOf(16, 0), parked_by: 'key' },
    { id: idOf(17, 0), parked_by: 'key' },
  ]
  assert.deepEqual(
    rows,
    expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  )
  assert.equal(receiver.arrivals.length, 0)
  await ground.deliver(told.get(single.webhook.id)?.[0] ?? '')
  assert.equal(receiver.arrivals.length, 1)
  assert.deepEqual(ground.takeJobs(), [])
  // One place is free, of a receiver for which one waits; and one of those who wait for the key alone may have it.
  const free = `update deliveries set status = 'dead', token = null, lease_until = null, ended_at = now() where id = $1`
  await pool.query(free, [idOf(0, 0)])
  const endOne = async (id: string) =>
    (await callNext(pool, { ids: [id], token: 't' })).map(({ job }) => job.data.deliveryId).toSorted()
  assert.deepEqual(await endOne(idOf(0, 0)), [idOf(16, 0), idOf(0, 4)].toSorted())
  await pool.query(free, [idOf(0, 1)])
  assert.deepEqual(await endOne(idOf(0, 1)), [idOf(17, 0)])
  assert.deepEqual(await endOne(idOf(0, 1)), [])
})

test('who finds no place leaves the queue; when a try ends the oldest of them are called, as many as have room', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const other = await ground.addWebhook(`${receiver.url}/other`)
  const told = await tellMany(pool, 9)
  const ids = told.get(webhook.id) ?? []
  const hold = (held: readonly (string | undefined)[]) =>
    pool.query(
      `update deliveries set status = 'sending', token = gen_random_uuid(), lease_until = now() + interval '1 minute'
       where id = any($1)`,
      [held],
    )
  await hold(ids.slice(0, 4))
  for (const id of ids.slice(5)) assert.deepEqual(await ground.deliver(id), { kind: 'done' })
  assert.deepEqual(await parked(), ids.slice(5))
  assert.deepEqual(ground.takeJobs(), [])
  // Another receiver's end calls none of them.
  await ground.deliver(told.get(other.webhook.id)?.[0] ?? '')
  assert.deepEqual(ground.takeJobs(), [])
  await pool.query("update deliveries set due_at = now() + interval '1 hour' where id = $1", [ids[5]])
  await pool.query(
    "update deliveries set status = 'dead', token = null, lease_until = null, ended_at = now() where id = any($1)",
    [ids.slice(0, 2)],
  )
  await ground.deliver(ids[4] ?? '')
  assert.deepEqual(ground.takeJobs(), [ids[6], ids[7]])
  assert.deepEqual(await parked(), [ids[5], ids[8]])
})

test('who is called is called once, by a job that the one which found no place cannot keep out', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, 3)).get(webhook.id) ?? []
  await pool.query("update deliveries set parked_by = 'receiver' where id = $1", [ids[2]])
  const jobs: string[] = []
  const enqueue: typeof ground.deps.queues.enqueue = (_, added) => {
    jobs.push(...added.map(({ id }) => id))
    return Promise.resolve()
  }
  const deliver = createDeliverer({ ...ground.deps, queues: { enqueue } })
  const delivered = await Promise.all(ids.slice(0, 2).map((id) => deliver(id, nobody)))
  jobs.push(...delivered.flatMap(({ next }) => next?.id ?? []))
  assert.equal(jobs.length, 1)
  assert.ok(jobs[0]?.startsWith(`${ids[2]}-1-`))
})

test('in a second that is full an end calls one, who waits for the next', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, 60)).get(webhook.id) ?? []
  await pool.query(
    "update deliveries set status = 'delivered', ended_at = now(), begun_at = clock_timestamp() + interval '20 s' where id = any($1)",
    [ids.slice(0, 49)],
  )
  await pool.query("update deliveries set parked_by = 'receiver' where id = any($1)", [ids.slice(50)])
  await ground.deliver(ids[49] ?? '')
  assert.deepEqual(ground.takeJobs(), [ids[50]])
  const called = await ground.deliver(ids[50] ?? '')
  assert.equal(called.kind, 'again')
  // One who is not among the next leaves.
  assert.deepEqual(await ground.deliver(ids[59] ?? ''), { kind: 'done' })
})
