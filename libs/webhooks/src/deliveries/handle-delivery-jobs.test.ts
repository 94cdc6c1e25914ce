import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewJob } from '@toolyard/queue/stored-job'
import { makeGround } from '../../fixtures/ground.ts'
import { tellMany } from '../../fixtures/many.ts'
import { answer, startReceiver } from '../../fixtures/receiver.ts'
import { createDeliverer } from './create-deliverer.ts'
import { handleDeliveryJobs } from './handle-delivery-jobs.ts'

const ground = await makeGround()
const { pool } = ground
const park = "update deliveries set parked_by = 'receiver' where id = any($1)"

/** A receiver for which many wait, of whom the first has a job. */
async function prepare(t: Parameters<typeof startReceiver>[0], count: number) {
  await ground.clear()
  const receiver = await startReceiver(t)
  const { webhook } = await ground.addWebhook(receiver.url)
  const ids = (await tellMany(pool, count)).get(webhook.id) ?? []
  await pool.query(park, [ids.slice(1)])
  const jobs: NewJob<'deliveries'>[] = []
  const enqueue: typeof ground.deps.queues.enqueue = (_, added) => {
    jobs.push(...(added as typeof jobs)) // safe because deliveries alone come here
    return Promise.resolve()
  }
  const deliver = createDeliverer({ ...ground.deps, queues: { enqueue } })
  const first = ids[0] ?? ''
  const run = (isEnding?: () => boolean, signal = new AbortController().signal) =>
    handleDeliveryJobs({ deliver, queues: { enqueue }, ...(isEnding && { isEnding }) })(
      { deliveryId: first },
      { jobId: first, signal },
    )
  return { receiver, ids, jobs, run }
}

const idsOf = (jobs: readonly NewJob<'deliveries'>[]) => jobs.map(({ data }) => data.deliveryId)

test('one job goes on until nobody waits, while the other places come to the queue', async (t) => {
  const { receiver, ids, jobs, run } = await prepare(t, 9)
  assert.deepEqual(await run(), { done: true })
  // With the first end four places were free: one went on here.
  assert.deepEqual(idsOf(jobs), ids.slice(2, 5))
  assert.deepEqual(
    receiver.arrivals.map(({ headers }) => headers['webhook-id']),
    [ids[0], ids[1], ...ids.slice(5)],
  )
})

test('a chain that is to end leaves the next one to the queue', async (t) => {
  const { receiver, ids, jobs, run } = await prepare(t, 9)
  assert.deepEqual(await run(() => receiver.arrivals.length >= 2), { done: true })
  assert.equal(receiver.arrivals.length, 2)
  assert.deepEqual(idsOf(jobs).toSorted(), ids.slice(2, 6).toSorted())
})

test('the job itself comes back when its own try failed, and another one goes on for it', async (t) => {
  const { receiver, ids, jobs, run } = await prepare(t, 3)
  receiver.behave(answer(503))
  assert.deepEqual(await run(), { again: { delayMs: 5_000 } })
  assert.deepEqual([receiver.arrivals.length, idsOf(jobs)], [1, [ids[1]]])
})

test('one who was called and failed gets a job of its own for the next try', async (t) => {
  const { receiver, ids, jobs, run } = await prepare(t, 3)
  receiver.behave((response, arrival, n) =>
    answer(arrival.headers['webhook-id'] === ids[1] ? 503 : 204)(response, arrival, n),
  )
  assert.deepEqual(await run(), { done: true })
  const later = jobs.find(({ data }) => data.deliveryId === ids[1])
  assert.deepEqual([later?.delayMs, (await ground.stateOf(ids[1] ?? '')).status], [5_000, 'waiting'])
  assert.deepEqual(receiver.arrivals.map(({ headers }) => headers['webhook-id']).slice(0, 2), ids.slice(0, 2))
})
