import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { openGround } from './fixtures/ground.ts'

const ground = await openGround('redis')
const long = { do: 'sleep', arg: '60000' }
const stubborn = { do: 'stubborn', arg: '60000' }

/** The container that has the payload of this call. */
async function containerOf(id: string): Promise<string> {
  const container = (await ground.handedOver(id)).at(-1)
  assert.ok(container !== undefined && (await ground.isAlive(container)))
  return container
}

const gone = (container: string) =>
  waitUntil(`${container} to be gone`, async () => !(await ground.isAlive(container)))

test('a cancel acts within a second, also on a tool that will not go', async (t) => {
  await ground.makeTool('long', { manifest: { constraints: { timeout_seconds: 60 } } })
  await ground.start(t)
  // Who does not go when asked has half a second before it is made to.
  for (const [call, limitMs] of [
    [long, 1_000],
    [stubborn, 1_500],
  ] as const) {
    const id = await ground.submit('long', call)
    const container = await containerOf(id)
    const askedMs = performance.now()
    assert.deepEqual(await ground.cancel(id), { kind: 'requested' })
    const tookMs = () => performance.now() - askedMs
    const one = await ground.final(id)
    const endedMs = tookMs()
    assert.deepEqual(
      [one.status, one.failure?.kind, one.reward, one.attempts],
      ['cancelled', 'cancelled', null, 1],
    )
    await gone(container)
    assert.ok(tookMs() < limitMs, `ended after ${endedMs} ms, its container gone after ${tookMs()} ms`)
  }
})

test('a call that still waits for its sandbox or for memory is cancelled too', async (t) => {
  await ground.makeTool('wide', { manifest: { constraints: { timeout_seconds: 60, concurrency: 2 } } })
  await ground.start(t, { memoryBytes: 100 * 1_048_576 })
  const first = await ground.submit('wide', long)
  await ground.handedOver(first)
  const second = await ground.submit('wide', long)
  await ground.until('to be claimed', second, (one) => one.status === 'running')
  await ground.cancel(second)
  assert.equal((await ground.final(second)).status, 'cancelled')
  assert.equal((await ground.find(first)).status, 'running')
  const { rows } = await ground.pool.query('select handed_over_at from invocations where id = $1', [second])
  assert.deepEqual(rows, [{ handed_over_at: null }])
})

test('a row that is taken away stops its sandbox, and the outcome is dropped (I2)', async (t) => {
  await ground.makeTool('taken', { manifest: { constraints: { timeout_seconds: 60 } } })
  const worker = await ground.start(t, { leaseTimes: { everyMs: 200, silentMs: 20_000 } })
  const id = await ground.submit('taken', long)
  const container = await containerOf(id)
  // As the scheduler does with what is stale, but that nobody is told of it.
  await ground.pool.query(
    `update invocations set status = 'queued', gate = 'held', attempt_token = null, lease_until = null where id = $1`,
    [id],
  )
  await gone(container)
  const event = await waitUntil('the attempt to be told', () =>
    ground.events().find((one) => one['invocation'] === id),
  )
  assert.deepEqual([event['outcome'], event['ending'], event['finished']], ['lost', 'cancelled', undefined])
  assert.equal((await ground.find(id)).status, 'queued')
  assert.match((await worker.metrics.render()).text, /toolyard_leases_lost_total\{.*reason="lost".*\} 1/)
})

test('a worker that cannot renew stops all it runs, and is not ready meanwhile', async (t) => {
  await ground.makeTool('apart', { manifest: { constraints: { timeout_seconds: 60 } } })
  const proxy = await stallableProxy(ground.url)
  const leaseTimes = { everyMs: 200, silentMs: 2_000 }
  const worker = await ground.start(t, { databaseUrl: proxy.url, leaseTimes })
  const ids = await Promise.all([ground.submit('apart', long), ground.submit('apart', long)])
  const containers = await Promise.all(ids.map(containerOf))
  assert.equal(worker.parts()['leases']?.state, 'ready')
  proxy.stall()
  const stalledMs = performance.now()
  await waitUntil('it to say so', () => worker.parts()['leases']?.state === 'unreachable')
  await Promise.all(containers.map(gone))
  const tookMs = performance.now() - stalledMs
  assert.ok(tookMs > 1_500 && tookMs < 10_000, `${tookMs} ms`)
  for (const id of ids)
    assert.equal((await ground.find(id)).status, 'running', 'the row is for others to take back')
  proxy.mend()
  // The database is back before anybody took them: they are given back, and run again.
  for (const id of ids) {
    await ground.until('to run again', id, (one) => one.attempts === 2 && one.status === 'running')
    await ground.cancel(id)
    assert.equal((await ground.final(id)).status, 'cancelled')
  }
})

test('a result outlasts a database that is away, and is committed once', async (t) => {
  await ground.makeTool('patient', { manifest: { constraints: { timeout_seconds: 30 } } })
  const proxy = await stallableProxy(ground.url)
  const worker = await ground.start(t, { databaseUrl: proxy.url })
  const id = await ground.submit('patient', { do: 'sleep', arg: '1000' })
  await ground.handedOver(id)
  proxy.cut()
  await waitUntil('a finish to be tried again', async () =>
    /toolyard_finish_retries_total\{.*\} [3-9]/.test((await worker.metrics.render()).text),
  )
  proxy.mend()
  const one = await ground.final(id)
  assert.deepEqual([one.status, one.result?.text, one.attempts], ['succeeded', 'slept', 1])
})

test('nothing is handed over while the database does not answer', async (t) => {
  await ground.makeTool('careful', { manifest: { constraints: { rerun: false, timeout_seconds: 60 } } })
  const proxy = await stallableProxy(ground.url)
  await ground.start(t, { databaseUrl: proxy.url, slots: 2, memoryBytes: 100 * 1_048_576 })
  const blocker = await ground.submit('careful', long)
  await ground.handedOver(blocker)
  const id = await ground.submit('careful', { do: 'print', arg: '{"text":"ran"}' })
  await ground.until('to wait for memory', id, (one) => one.status === 'running')
  await ground.cancel(blocker)
  await ground.final(blocker)
  // From its memory to its sandbox are some 200 ms.
  proxy.cut()
  const isWaiting = () => ground.lines.some((line) => line.includes('an attempt waits for the database'))
  await waitUntil('the attempt to ask for the handover', isWaiting)
  const { rows } = await ground.pool.query('select handed_over_at from invocations where id = $1', [id])
  assert.deepEqual(rows, [{ handed_over_at: null }])
  proxy.mend()
  const one = await ground.final(id)
  assert.deepEqual([one.result?.text, one.attempts], ['ran', 1])
})
