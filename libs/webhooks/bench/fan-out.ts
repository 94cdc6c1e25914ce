import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createKey } from '@toolyard/access/create-key'
import { Secret } from '@toolyard/config/secret'
import type { Pool } from '@toolyard/db/pool'
import { finishAll } from '@toolyard/invocations/finish'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { makeTool, runningOne, setSlots } from '@toolyard/invocations/fixtures/world'
import { createLogger } from '@toolyard/log/logger'
import { createQueues } from '@toolyard/queue/queues'
import { openVault } from '@toolyard/vault/open-vault'
import { createDeliverer } from '../src/deliveries/create-deliverer.ts'
import { deliveriesMax, handleDeliveryJobs } from '../src/deliveries/handle-delivery-jobs.ts'
import { withDeliveries } from '../src/deliveries/with-deliveries.ts'
import { createWebhook } from '../src/endpoints/create-webhook.ts'
import { createSender } from '../src/guard/create-sender.ts'
import { readGuardRules } from '../src/guard/guard-rules.ts'

export type FanOutBench = {
  deliveries: number
  receivers: number
  hanging: number
  p50Ms: number
  p95Ms: number
}

const receivers = 50
const hanging = 5
const ends = 20

/** From the commit of the ends to the arrival of each message, at those who answer, while others hang. */
export async function benchFanOut(pool: Pool, databaseUrl: string): Promise<FanOutBench> {
  const arrivals: number[] = []
  const all = Promise.withResolvers<void>()
  const expected = ends * (receivers - hanging)
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    if (incoming.url?.startsWith('/hangs') === true) return
    incoming.on('end', () => {
      arrivals.push(performance.now())
      outgoing.writeHead(204).end()
      if (arrivals.length === expected) all.resolve()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const rules = readGuardRules({ allowHttp: true, ports: [address.port], allow: ['127.0.0.1'] })
  const secretKeys = new Secret(`k1:${randomBytes(32).toString('base64url')}`)
  const vault = await openVault({ pool, secretKeys, dataDir: 'nowhere' })
  const queues = createQueues({
    databaseUrl,
    poolMax: 12,
    applicationName: 'toolyard-bench',
    redisPrefix: 'unused',
    onError: () => {},
  })
  const log = createLogger({ service: 'bench', level: 'error', destination: { write: () => {} } })
  const deliver = createDeliverer({ vault, queues, sender: createSender({ rules }), log })
  try {
    await makeWebhooks(vault, rules, address.port)
    const consumer = await queues.consume('deliveries', handleDeliveryJobs({ deliver, queues }), {
      concurrency: deliveriesMax,
    })
    const holds = await prepareEnds(pool)
    const told: Promise<void>[] = []
    const run = ({
      deliveries = [],
    }: {
      deliveries?: readonly { id: string; data: { deliveryId: string } }[]
    }) => void told.push(queues.enqueue('deliveries', [...deliveries]))
    const within = withDeliveries(async () => {})
    await finishAll(
      { pool, afterCommit: { run } },
      holds.map((hold) => ({ hold, outcome: success })),
      { within },
    )
    const committedAtMs = performance.now()
    await Promise.all(told)
    await all.promise
    const tookMs = arrivals.map((at) => at - committedAtMs).toSorted((a, b) => a - b)
    const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(share * tookMs.length))] ?? 0
    server.closeAllConnections()
    await consumer.drain({ timeoutMs: 0 })
    return { deliveries: ends * receivers, receivers, hanging, p50Ms: at(0.5), p95Ms: at(0.95) }
  } finally {
    server.closeAllConnections()
    server.close()
    await queues.close()
  }
}

async function makeWebhooks(
  vault: Parameters<typeof createWebhook>[0]['vault'],
  rules: Parameters<typeof createWebhook>[0]['rules'],
  port: number,
): Promise<void> {
  const operator = { actor: { kind: 'operator' as const } }
  const scopes = ['webhooks:manage' as const, 'invocations:read' as const]
  const { key } = await createKey(vault.pool, operator, { name: 'bench', scopes })
  const events = ['invocation.finished' as const]
  const body = { description: '', tools: null, topics: null, enabled: true, events }
  for (let n = 0; n < receivers; n++) {
    const url = `http://127.0.0.1:${port}/${n < hanging ? 'hangs' : 'answers'}/${n}`
    await createWebhook({ vault, rules }, { actor: { kind: 'key', key } }, { ...body, url })
  }
}

async function prepareEnds(pool: Pool) {
  await makeTool(pool, 'weather')
  await setSlots(pool, 1_000)
  const deps = { pool, afterCommit: { run: () => {} } }
  return Promise.all(Array.from({ length: ends }, () => runningOne(deps)))
}
