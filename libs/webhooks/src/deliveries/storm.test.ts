import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { callBy, makeGround } from '../../fixtures/ground.ts'
import { tellMany } from '../../fixtures/many.ts'
import { startReceiver } from '../../fixtures/receiver.ts'
import { startWorkers } from '../../fixtures/workers.ts'
import { changeWebhook } from '../endpoints/change-webhook.ts'
import { dropVoid } from './drop-void.ts'
import { pruneDeliveries } from './prune-deliveries.ts'
import { receiverOf } from './receiver.ts'
import { relayDeliveries } from './relay-deliveries.ts'
import { retryDelivery } from './retry-delivery.ts'

const ground = await makeGround()
const { pool, vault, rules } = ground
const owner = callBy(ground.key)

const isRefusal = (error: unknown) =>
  error instanceof AppError && ['already_final', 'being_sent', 'webhook_inactive'].includes(error.code)

test('while everything is done at once nobody waits for each other in a circle, and nothing is lost or told twice', async (t) => {
  let isCalm = false
  const took = new Map<string, number>()
  const receiver = await startReceiver(t, (response, { headers }, n) => {
    const id = String(headers['webhook-id'])
    const status = isCalm ? 200 : ([200, 500, 200, 503, 410] as const)[n % 5]
    if (status === 200) took.set(id, (took.get(id) ?? 0) + 1)
    response.writeHead(status ?? 200).end()
  })
  const webhooks: string[] = []
  for (let n = 0; n < 4; n++) webhooks.push((await ground.addWebhook(receiver.url)).webhook.id)
  const ids = [...(await tellMany(pool, 25)).values()].flat()
  const workers = await startWorkers(ground, { processes: 3, concurrency: 6 })
  workers.add(ids)
  const queues: Parameters<typeof relayDeliveries>[1] = {
    enqueue: (_, jobs) => {
      workers.add(jobs.map(({ data }) => ('deliveryId' in data ? String(data.deliveryId) : '')))
      return Promise.resolve()
    },
  }
  const change = (n: number, what: Parameters<typeof changeWebhook>[3]) =>
    changeWebhook({ vault, rules }, owner, webhooks[n % 4] ?? '', what)
  // Those that have ended, are under way, or whose webhook is just disabled are refused; everything else is a fault.
  const retry = (n: number) =>
    retryDelivery(pool, owner, ids[(n * 7) % ids.length] ?? '').then(
      ({ id }) => workers.add([id]),
      (error: unknown) => assert.ok(isRefusal(error), String(error)),
    )
  for (let n = 0; n < 40; n++)
    await Promise.all([
      change(n, { enabled: n % 3 !== 0 }),
      change(n + 1, { resume: true, description: String(n) }),
      change(n + 2, n % 10 === 0 ? { rotate_secret: true } : { enabled: true }),
      retry(n),
      retry(n + 13),
      relayDeliveries(pool, queues),
      dropVoid(pool, receiverOf(webhooks[n % 4] ?? '')),
      pruneDeliveries(pool, 30),
      pool.query("update deliveries set due_at = clock_timestamp() where status = 'waiting' and id = $1", [
        ids[n % ids.length],
      ]),
    ])
  isCalm = true
  for (let n = 0; n < 4; n++) await change(n, { enabled: true, resume: true })
  for (const id of ids)
    await retryDelivery(pool, owner, id).catch((error: unknown) => {
      assert.ok(isRefusal(error), String(error))
    })
  await waitUntil(
    'all to be delivered',
    async () => {
      await pool.query("update deliveries set due_at = clock_timestamp() where status = 'waiting'")
      await relayDeliveries(pool, queues)
      const open = await pool.query("select from deliveries where status <> 'delivered'")
      if (open.rowCount === 0) return true
      await Promise.allSettled(ids.map((id) => retryDelivery(pool, owner, id)))
      return false
    },
    60_000,
  )
  await workers.stop()
  assert.deepEqual(workers.errors, [])
  assert.equal(took.size, ids.length)
  assert.deepEqual(
    [...took.values()].filter((times) => times !== 1),
    [],
  )
})
