import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { NewKeyBody } from '@toolyard/contract/keys'
import type { NewWebhookBody } from '@toolyard/contract/webhooks'
import { transaction } from '@toolyard/db/transaction'
import { callBy, makeGround } from '../../fixtures/ground.ts'
import { startReceiver } from '../../fixtures/receiver.ts'
import { getDelivery } from './list-deliveries.ts'
import type { PlatformEvent } from './write-event.ts'
import { writeEvent } from './write-event.ts'

const ground = await makeGround()
const { pool } = ground
const url = 'http://127.0.0.1:9/in'

beforeEach(() => ground.clear())

const event: PlatformEvent = { event: 'tool.image_failed', tool: 'weather', topic: null, data: { a: 1 } }

for (const [what, keyParts, parts, told, isTold] of [
  ['a webhook with this event', {}, {}, {}, true],
  ['a webhook with another event', {}, { events: ['prompt.created'] }, {}, false],
  ['a disabled webhook', {}, { enabled: false }, {}, false],
  ['a filter by another tool', {}, { tools: ['radar'] }, {}, false],
  ['a filter by this tool', {}, { tools: ['weather'] }, {}, true],
  ['a filter by topic, of what has none', {}, { topics: ['trip'] }, {}, true],
  ['a filter by topic, of another', {}, { topics: ['trip'] }, { topic: 'home' }, false],
  ['a filter by topic, of this one', {}, { topics: ['trip'] }, { topic: 'trip' }, true],
  ['a key bound to another tool', { tools: ['radar'] }, {}, {}, false],
  ['a key bound to topics, of what has none', { topics: ['trip'] }, {}, {}, true],
  ['a key bound to another topic', { topics: ['home'] }, {}, { topic: 'trip' }, false],
] as [string, Partial<NewKeyBody>, Partial<NewWebhookBody>, Partial<PlatformEvent>, boolean][])
  test(`${what} is ${isTold ? 'told' : 'not told'}`, async () => {
    const by = await ground.makeKey(keyParts)
    await ground.addWebhook(url, { by, events: ['tool.image_failed'], ...parts })
    assert.equal((await writeEvent(pool, { ...event, ...told })).length, isTold ? 1 : 0)
  })

test('an event is sent, signed and listed like the others, and its jobs are for the queue', async (t) => {
  const receiver = await startReceiver(t)
  await ground.addWebhook(receiver.url, { events: ['tool.image_failed', 'prompt.created'] })
  const data = { image: 'sha256:1', reason: 'no Dockerfile "\u0000"', nested: [{ deep: '\ud800' }] }
  const [job] = await writeEvent(pool, { ...event, topic: 'trip', data })
  assert.ok(job)
  const id = job.data.deliveryId
  assert.equal(job.id, `${id}-1`)
  await ground.deliver(id)
  const [arrival] = receiver.arrivals
  assert.equal(arrival?.headers['webhook-id'], id)
  const said = JSON.parse(arrival?.body.toString() ?? '')
  assert.equal(said.type, 'tool.image_failed')
  assert.deepEqual(said.data, { ...data, tool: 'weather', topic: 'trip' })
  const shown = await getDelivery(pool, callBy(ground.key).actor, id)
  assert.deepEqual(
    [shown.status, shown.event, shown.invocation_id, shown.topic],
    ['delivered', 'tool.image_failed', null, 'trip'],
  )
})

test('an event is told together with what makes it so, or not at all', async () => {
  await ground.addWebhook(url, { events: ['tool.image_failed'] })
  const boom = transaction(pool, async (sql) => {
    assert.equal((await writeEvent(sql, event)).length, 1)
    throw new Error('boom')
  })
  await assert.rejects(boom, /boom/)
  const { rows } = await pool.query('select from deliveries')
  assert.equal(rows.length, 0)
  await transaction(pool, async (sql) => {
    await writeEvent(sql, event)
    await writeEvent(sql, event)
  })
  assert.equal((await pool.query('select from deliveries')).rows.length, 2)
})
