import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { NewKeyBody } from '@toolyard/contract/keys'
import type { NewWebhookBody } from '@toolyard/contract/webhooks'
import { webhookEvents } from '@toolyard/contract/webhooks'
import { transaction } from '@toolyard/db/transaction'
import { cancel } from '@toolyard/invocations/cancel'
import type { ClosedInvocation } from '@toolyard/invocations/close-rows'
import { expire } from '@toolyard/invocations/expire'
import { finish, finishAll } from '@toolyard/invocations/finish'
import { failure, success } from '@toolyard/invocations/fixtures/outcomes'
import { makeTool, passTime, rowOf, runningOne, submitOne } from '@toolyard/invocations/fixtures/world'
import type { FinalStatus } from '@toolyard/contract/invocations'
import { finalStatuses } from '@toolyard/contract/invocations'
import { closedOne } from '../../fixtures/many.ts'
import { makeGround, operator } from '../../fixtures/ground.ts'
import { withDeliveries } from './with-deliveries.ts'
import { writeDeliveries } from './write-deliveries.ts'

const ground = await makeGround()
const { pool, worldDeps } = ground
const url = 'http://127.0.0.1:9/in'
await makeTool(pool, 'radar')

beforeEach(() => ground.clear())

/** Which event each webhook would be told, by its description. */
async function toldOf(...closed: Partial<ClosedInvocation>[]): Promise<string[]> {
  await transaction(pool, (sql) =>
    writeDeliveries(
      sql,
      closed.map((one) => closedOne(one)),
    ),
  )
  const { rows } = await pool.query<{ line: string }>(
    `select webhook.description || ' ' || one.event || ' ' || one.invocation_id as line
     from deliveries as one join webhooks as webhook on webhook.id = one.webhook_id order by one.id`,
  )
  return rows.map(({ line }) => line)
}

const add = (description: string, parts: Partial<NewWebhookBody> = {}) =>
  ground.addWebhook(url, { description, ...parts })

test('each event is told of its own final statuses, and a webhook with both gets one message', async () => {
  await add('all', { events: ['invocation.finished'] })
  await add('bad', { events: ['invocation.failed'] })
  await add('both', { events: ['invocation.failed', 'invocation.finished'] })
  await add('others', { events: ['prompt.created', 'tool.budget_exhausted', 'tool.image_failed'] })
  const expected: Record<FinalStatus, string[]> = {
    succeeded: ['all', 'both'],
    failed: ['all', 'bad', 'both'],
    timed_out: ['all', 'bad', 'both'],
    cancelled: ['all', 'both'],
    expired: ['all', 'both'],
  }
  for (const status of finalStatuses) {
    const lines = await toldOf({ id: `inv_${status}`, status })
    const those = lines.filter((line) => line.endsWith(`inv_${status}`)).toSorted()
    const event = (name: string) => (name === 'bad' ? 'invocation.failed' : 'invocation.finished')
    assert.deepEqual(
      those,
      expected[status].map((name) => `${name} ${event(name)} inv_${status}`),
    )
  }
  assert.equal(webhookEvents.length, 5)
})

const bindings: [string, Partial<NewKeyBody>, Partial<NewWebhookBody>, Partial<ClosedInvocation>, boolean][] =
  [
    ['an unbound key hears all', {}, {}, { tool: 'x', topic: 'y' }, true],
    ["an unbound key hears another key's own topic", {}, {}, { topic: 'key:other' }, true],
    ['a filter by tool that fits', {}, { tools: ['radar', 'weather'] }, {}, true],
    ['a filter by tool that does not fit', {}, { tools: ['radar'] }, {}, false],
    ['a filter by topic that fits', {}, { topics: ['home', 'trip'] }, {}, true],
    ['a filter by topic that does not fit', {}, { topics: ['home'] }, {}, false],
    ['a filter by topic is no pattern', {}, { topics: ['tri%'] }, {}, false],
    ['both filters must fit', {}, { tools: ['weather'], topics: ['home'] }, {}, false],
    ['a key that is bound to this tool', { tools: ['weather'] }, {}, {}, true],
    ['a key that is bound to another tool', { tools: ['radar'] }, {}, {}, false],
    ['a key that is bound to this topic', { topics: ['trip'] }, {}, {}, true],
    ['a key that is bound to another topic', { topics: ['home'] }, {}, {}, false],
    ['a binding and a filter that both fit', { topics: ['trip', 'home'] }, { topics: ['trip'] }, {}, true],
    ['a filter narrower than its binding', { topics: ['trip', 'home'] }, { topics: ['home'] }, {}, false],
    ['a key that expires later', { expires_at: '2999-01-01T00:00:00Z' }, {}, {}, true],
  ]
for (const [what, keyParts, parts, closed, isTold] of bindings)
  test(`${what}: ${isTold ? 'told' : 'not told'}`, async () => {
    const by = await ground.makeKey(keyParts)
    await ground.addWebhook(url, { by, description: 'it', ...parts })
    assert.equal((await toldOf(closed)).length, isTold ? 1 : 0)
  })

test('a webhook whose filters are wider than its key, as after a change by another key, hears no more for it', async () => {
  const by = await ground.makeKey({ topics: ['home'] })
  const { webhook } = await ground.addWebhook(url, { by })
  await pool.query("update webhooks set topics = '{trip,home}' where id = $1", [webhook.id])
  assert.equal((await toldOf({})).length, 0)
})

for (const [what, change, isTold] of [
  ['a disabled webhook', 'update webhooks set enabled = false', false],
  ['a paused webhook', "update webhooks set paused_at = now(), paused_reason = 'x'", true],
  ['a webhook of a revoked key', 'update api_keys set revoked_at = now() where id = $1', false],
  ['a webhook of an expired key', 'update api_keys set expires_at = now() where id = $1', false],
] as const)
  test(`${what} is ${isTold ? 'told, and waits' : 'not told'}`, async () => {
    const by = await ground.makeKey()
    await ground.addWebhook(url, { by })
    await pool.query(change, change.includes('$1') ? [by.id] : [])
    assert.equal((await toldOf({})).length, isTold ? 1 : 0)
  })

test('a finish that is written twice tells nobody twice', async () => {
  await add('a')
  await add('b')
  assert.equal((await toldOf({})).length, 2)
  assert.equal((await toldOf({})).length, 2)
  const hold = await runningOne(worldDeps)
  const within = withDeliveries(async () => {})
  await finish(worldDeps, { hold, outcome: success, within })
  const again = await finish(worldDeps, { hold, outcome: success, within })
  assert.ok(again.kind === 'closed' && again.isRepeated)
  assert.equal((await toldOf()).length, 4)
})

test('many ends at once are all told, and their ids sort as they were made', async () => {
  await add('a')
  await add('b')
  const closed = Array.from({ length: 300 }, (_, n) => ({ id: `inv_${n}` }))
  assert.equal((await toldOf(...closed)).length, 600)
  const { rows } = await pool.query<{ id: string }>('select id from deliveries order by id')
  assert.match(rows[599]?.id ?? '', /^msg_[0-9a-z]{26}0000600$/)
})

test('of many for one receiver those come to the queue that have a place, and the others are called later', async () => {
  const { webhook } = await add('a')
  await add('b')
  const closed = Array.from({ length: 9 }, (_, n) => closedOne({ id: `inv_${n}` }))
  const called = await writeDeliveries(pool, closed)
  const { rows } = await pool.query<{ id: string; invocation_id: string; parked_by: string | null }>(
    'select id, invocation_id, parked_by from deliveries where webhook_id = $1 order by invocation_id',
    [webhook.id],
  )
  assert.deepEqual(
    rows.map((row) => row.parked_by),
    [...Array.from({ length: 4 }, () => null), ...Array.from({ length: 5 }, () => 'receiver')],
  )
  assert.equal(called.length, 8)
  assert.deepEqual(
    called.filter((id) => rows.some((row) => row.id === id)),
    rows.slice(0, 4).map(({ id }) => id),
  )
})

test('a callback goes to the url of the call, beside webhooks, and is signed for the key of the call', async () => {
  const { webhook } = await add('a')
  const caller = await ground.makeKey({ topics: ['trip'] })
  const { id, told } = await ground.endOne({ keyId: caller.id, callbackUrl: 'https://a.example/x' })
  assert.equal(told.length, 2)
  const { rows } = await pool.query(
    'select invocation_id, webhook_id, key_id, url, event, tool, topic from deliveries order by webhook_id',
  )
  const [toWebhook, toCallback] = rows
  const common = { invocation_id: id, event: 'invocation.finished', tool: 'weather', topic: 'trip' }
  assert.deepEqual(toWebhook, { ...common, webhook_id: webhook.id, key_id: ground.key.id, url: null })
  assert.deepEqual(toCallback, { ...common, webhook_id: null, key_id: caller.id, url: 'https://a.example/x' })
})

test('a callback is told however the call ends', async () => {
  const within = withDeliveries(async () => {})
  const parts = { keyId: ground.key.id, callbackUrl: 'https://a.example/x' }
  const failed = await ground.endOne({ ...parts, outcome: failure })
  const cancelled = await submitOne(worldDeps, parts)
  await cancel(worldDeps, operator.actor, { id: cancelled.id, within })
  const expired = await submitOne(worldDeps, parts)
  await passTime(pool, expired.id, 86_400)
  assert.equal(await expire(worldDeps, within), 1)
  const { rows } = await pool.query<{ line: string }>(
    `select one.event || ' ' || invocations.status as line from deliveries as one
     join invocations on invocations.id = one.invocation_id where one.invocation_id = any($1) order by one.id`,
    [[failed.id, cancelled.id, expired.id]],
  )
  assert.deepEqual(
    rows.map(({ line }) => line),
    ['invocation.finished failed', 'invocation.finished cancelled', 'invocation.finished expired'],
  )
  const told = worldEffects()
  assert.equal(told.length, 2)
})

const worldEffects = () => ground.worldEffects().deliveries

test('callbacks of one key to one host share a receiver, those of others do not, however it is spelled', async () => {
  const [a, b] = [await ground.makeKey(), await ground.makeKey()]
  const receiverAt = async (keyId: string, callbackUrl: string) => {
    const { told } = await ground.endOne({ keyId, callbackUrl })
    const { rows } = await pool.query('select receiver from deliveries where id = $1', [told[0]])
    return rows[0].receiver
  }
  const one = await receiverAt(a.id, 'https://hooks.example/1')
  assert.equal(await receiverAt(a.id, 'HTTPS://Hooks.Example?2'), one)
  assert.notEqual(await receiverAt(b.id, 'https://hooks.example/1'), one)
  assert.notEqual(await receiverAt(a.id, 'https://hooks2.example/1'), one)
})

test('nothing is told where nobody asked, nor of a call of the platform that has a callback', async () => {
  const { told } = await ground.endOne()
  const platform = await ground.endOne({ keyId: null, callbackUrl: 'https://a.example/x' })
  assert.deepEqual([told, platform.told], [[], []])
})

test('what a finish tells is rolled back with it, and a finish that was rolled back can tell later', async () => {
  await add('a')
  const holds = [await runningOne(worldDeps), await runningOne(worldDeps)]
  const inputs = holds.map((hold) => ({ hold, outcome: success }))
  const boom = withDeliveries(() => Promise.reject(new Error('boom')))
  await assert.rejects(finishAll(worldDeps, inputs, { within: boom }), /boom/)
  const late = withDeliveries(async (sql) => void (await sql.query('select 1 / 0')))
  await assert.rejects(finishAll(worldDeps, inputs, { within: late }), /division by zero/)
  assert.deepEqual([await toldOf(), ground.worldEffects().deliveries], [[], []])
  assert.equal((await rowOf(pool, holds[0]?.id ?? '')).status, 'running')
  await finishAll(worldDeps, inputs, { within: withDeliveries(async () => {}) })
  assert.equal((await toldOf()).length, 2)
  assert.equal(ground.worldEffects().deliveries.length, 2)
})

test('what others tell in the same finish is told too', async () => {
  await add('a')
  const hold = await runningOne(worldDeps)
  const other = { id: 'other-1', data: { deliveryId: 'other' } }
  const within = withDeliveries(() => Promise.resolve({ deliveries: [other] }))
  ground.worldEffects()
  await finish(worldDeps, { hold, outcome: success, within })
  const ids = ground.worldEffects().deliveries
  assert.equal(ids.length, 2)
  assert.equal(ids[0], 'other-1')
  assert.match(ids[1] ?? '', /^msg_[0-9a-z]{26}0000001-1$/)
})
