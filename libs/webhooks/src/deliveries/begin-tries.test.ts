import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { transaction } from '@toolyard/db/transaction'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { callBy, makeGround } from '../../fixtures/ground.ts'
import { startReceiver } from '../../fixtures/receiver.ts'
import { startWorkers } from '../../fixtures/workers.ts'
import { changeWebhook } from '../endpoints/change-webhook.ts'
import { deleteWebhook } from '../endpoints/delete-webhook.ts'
import type { Begun } from './begin-tries.ts'
import { beginTries } from './begin-tries.ts'
import type { EndedTry } from './end-tries.ts'
import { endTries } from './end-tries.ts'
import { lookAt } from './look.ts'

const ground = await makeGround()
const { pool, vault, rules } = ground
const owner = callBy(ground.key)

beforeEach(() => ground.clear())

async function readinessOf(id: string) {
  const look = (await lookAt(pool, [id])).get(id)
  assert.ok(look)
  return { id, version: look.version }
}

async function beginTry<T>(ready: { id: string; version: string | null }, start: () => T): Promise<Begun<T>> {
  const [begun] = await beginTries(pool, [{ ...ready, start }])
  assert.ok(begun)
  return begun
}

const endTry = async (ended: EndedTry) => (await endTries(pool, [ended])).has(ended.id)

const ways = {
  disabled: (id: string) => changeWebhook({ vault, rules }, owner, id, { enabled: false }),
  removed: (id: string) => deleteWebhook(vault, owner, id),
}

for (const [what, end] of Object.entries(ways)) {
  test(`a webhook is ${what} once a try that is just beginning has begun`, async (t) => {
    const receiver = await startReceiver(t)
    const { webhook } = await ground.addWebhook(receiver.url)
    const id = await ground.endOneFor(webhook)
    const order: string[] = []
    let ending: Promise<unknown> = Promise.resolve()
    const begun = await beginTry(await readinessOf(id), () => {
      ending = end(webhook.id).then(() => order.push('ended'))
      order.push('started')
    })
    order.push('begun')
    assert.equal(begun.kind, 'begun')
    await ending
    assert.deepEqual(order.toSorted(), ['begun', 'ended', 'started'])
    assert.equal(order[0], 'started')
    // It has begun: it may come to its end, and is the last.
    assert.equal((await ground.stateOf(id)).status, 'sending')
  })

  test(`no try begins while a webhook is being ${what}, nor afterwards; nobody waits for that`, async (t) => {
    const receiver = await startReceiver(t)
    const { webhook } = await ground.addWebhook(receiver.url)
    const id = await ground.endOneFor(webhook)
    const statement =
      what === 'removed'
        ? 'delete from webhooks where id = $1'
        : 'update webhooks set enabled = false, dropped_at = clock_timestamp() where id = $1'
    await transaction(pool, async (sql) => {
      await sql.query(statement, [webhook.id])
      const delivered = await ground.deliver(id)
      assert.deepEqual(delivered, { kind: 'again', againMs: 250 })
    })
    assert.deepEqual(await ground.deliver(id), { kind: 'done' })
    assert.equal(receiver.arrivals.length, 0)
    assert.deepEqual([(await ground.stateOf(id)).status, (await ground.stateOf(id)).tries], ['waiting', 0])
  })

  test(`of many deliveries none begins after their webhook was ${what}`, async (t) => {
    const receiver = await startReceiver(t)
    const posts: { id: string; atMs: number }[] = []
    const sender: typeof ground.deps.sender = {
      post(request) {
        posts.push({ id: request.headers['webhook-id'] ?? '', atMs: performance.now() })
        return ground.deps.sender.post(request)
      },
    }
    const workers = await startWorkers(ground, { processes: 3, concurrency: 8, sender })
    for (let round = 0; round < 3; round++) {
      const { webhook } = await ground.addWebhook(receiver.url)
      const ids: string[] = []
      for (let n = 0; n < 8; n++) ids.push(await ground.endOneFor(webhook))
      workers.add(ids)
      // Each round a little later among the tries.
      await waitUntil('some tries', () => posts.filter((one) => ids.includes(one.id)).length >= round * 2)
      await end(webhook.id)
      const endedAtMs = performance.now()
      const { rows } = await pool.query<{ status: string; tries: number }>(
        'select status, tries from deliveries where id = any($1)',
        [ids],
      )
      assert.equal(rows.filter(({ status }) => status === 'waiting').length, 0)
      const begun = rows.filter(({ tries }) => tries > 0).length
      const before = posts.filter((one) => ids.includes(one.id) && one.atMs < endedAtMs)
      assert.equal(before.length, begun)
      await waitUntil('the last tries to end', async () => {
        const open = await pool.query("select from deliveries where status = 'sending' and id = any($1)", [
          ids,
        ])
        return open.rowCount === 0
      })
      assert.equal(posts.filter((one) => ids.includes(one.id)).length, begun)
      await pool.query('delete from webhooks')
    }
    await workers.stop()
    assert.deepEqual(workers.errors, [])
    assert.equal(receiver.arrivals.length, posts.length)
  })
}

test('a try begins with what its webhook says now, and not with what was made ready', async () => {
  const { webhook } = await ground.addWebhook('http://127.0.0.1:9/in')
  const id = await ground.endOneFor(webhook)
  const ready = await readinessOf(id)
  await changeWebhook({ vault, rules }, owner, webhook.id, { description: 'x' })
  const begun = await beginTry(ready, () => assert.fail('it has changed'))
  assert.deepEqual(begun, { kind: 'changed' })
  assert.equal((await beginTry(await readinessOf(id), () => 1)).kind, 'begun')
})

test('while one try to a receiver begins another does not wait for it, and other receivers do not care', async () => {
  const [a, b] = [
    await ground.addWebhook('http://127.0.0.1:9/a'),
    await ground.addWebhook('http://127.0.0.1:9/b'),
  ]
  const ids = [
    await ground.endOneFor(a.webhook),
    await ground.endOneFor(a.webhook),
    await ground.endOneFor(b.webhook),
  ] as const
  await transaction(pool, async (sql) => {
    await sql.query(
      "select pg_advisory_xact_lock(hashtextextended('delivery ' || receiver, 0)) from deliveries where id = $1",
      [ids[0]],
    )
    assert.deepEqual(await beginTry(await readinessOf(ids[1]), () => 1), { kind: 'contended' })
    assert.equal((await beginTry(await readinessOf(ids[2]), () => 1)).kind, 'begun')
  })
  assert.equal((await beginTry(await readinessOf(ids[1]), () => 1)).kind, 'begun')
})

test('of several who take one delivery at once, one does', async () => {
  const { webhook } = await ground.addWebhook('http://127.0.0.1:9/a')
  const id = await ground.endOneFor(webhook)
  const ready = await readinessOf(id)
  const begun = await Promise.all(Array.from({ length: 8 }, () => beginTry(ready, () => 1)))
  assert.equal(begun.filter(({ kind }) => kind === 'begun').length, 1)
  assert.equal((await ground.stateOf(id)).tries, 1)
})

for (const [what, change] of [
  ['has expired', "update api_keys set expires_at = clock_timestamp() - interval '1 ms' where id = $1"],
  ['was revoked', 'update api_keys set revoked_at = clock_timestamp() where id = $1'],
] as const)
  test(`what waits is sent no more once its key ${what}, to webhooks and to callbacks`, async (t) => {
    const receiver = await startReceiver(t)
    const by = await ground.makeKey()
    const { webhook } = await ground.addWebhook(receiver.url, { by })
    const { told } = await ground.endOne({ keyId: by.id, callbackUrl: receiver.url })
    assert.equal(told.length, 2)
    await pool.query(change, [by.id])
    for (const id of told) assert.deepEqual(await ground.deliver(id), { kind: 'done' })
    assert.equal(receiver.arrivals.length, 0)
    assert.equal(webhook.enabled, true)
  })

test('whose try was taken for lost writes nothing', async () => {
  const { webhook } = await ground.addWebhook('http://127.0.0.1:9/a')
  const id = await ground.endOneFor(webhook)
  const first = await beginTry(await readinessOf(id), () => 1)
  assert.ok(first.kind === 'begun')
  await pool.query(
    "update deliveries set status = 'waiting', token = null, lease_until = null where id = $1",
    [id],
  )
  const second = await beginTry(await readinessOf(id), () => 1)
  assert.ok(second.kind === 'begun' && second.token !== first.token && second.try === 2)
  const ended = {
    id,
    try: 1,
    startedAt: new Date(),
    tookMs: 1,
    status: 410,
    fault: null,
    answer: null,
  }
  assert.equal(await endTry({ ...ended, token: first.token, next: { kind: 'gone' } }), false)
  const { rows } = await pool.query('select enabled from webhooks')
  assert.deepEqual([rows[0].enabled, (await ground.stateOf(id)).status], [true, 'sending'])
  assert.equal((await pool.query('select from delivery_tries')).rowCount, 0)
  const delivered = {
    ...ended,
    try: 2,
    token: second.token,
    status: 200,
    next: { kind: 'delivered' },
  } as const
  assert.equal(await endTry(delivered), true)
  assert.equal(await endTry(delivered), false)
})
