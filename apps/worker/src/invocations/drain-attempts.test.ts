import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGround } from './fixtures/ground.ts'

const ground = await openGround('redis')
const seconds = (count: number) => ({ do: 'sleep', arg: String(count * 1_000) })

test('a drain lets end what ends, hands back the rest, and leaves no container', async (t) => {
  await ground.makeTool('slow', { manifest: { constraints: { timeout_seconds: 60 } } })
  const worker = await ground.start(t, { drainSeconds: 3 })
  const short = await ground.submit('slow', seconds(1))
  const long = await ground.submit('slow', seconds(50))
  await Promise.all([ground.handedOver(short), ground.handedOver(long)])
  const startedMs = performance.now()
  const draining = worker.drain(AbortSignal.timeout(2_400))
  const late = await ground.submit('slow', seconds(0))
  await draining
  const tookMs = performance.now() - startedMs
  assert.ok(tookMs > 2_000 && tookMs < 10_000, `${tookMs} ms`)
  assert.equal((await ground.find(short)).status, 'succeeded')
  const back = await ground.find(long)
  assert.deepEqual([back.status, back.attempts, back.failure], ['queued', 1, null])
  assert.deepEqual([(await ground.find(late)).status, (await ground.find(late)).attempts], ['queued', 0])
  assert.deepEqual(await ground.containers(), [])
  const { rows } = await ground.pool.query('select id from workers where id = $1', [worker.processId])
  assert.deepEqual(rows, [])

  await ground.start(t)
  assert.equal((await ground.final(late)).status, 'succeeded')
  await ground.until('to run again', long, (one) => one.status === 'running' && one.attempts === 2)
  await ground.handedOver(long)
  await ground.cancel(long)
})

test('what must not run twice is waited for longest, and failed where it does not end', async (t) => {
  await ground.makeTool('once', { manifest: { constraints: { rerun: false, timeout_seconds: 60 } } })
  await ground.makeTool('often', { manifest: { constraints: { timeout_seconds: 60 } } })
  const worker = await ground.start(t, { drainSeconds: 10 })
  const [barely, never, often] = await Promise.all([
    ground.submit('once', seconds(8)),
    ground.submit('once', seconds(50)),
    ground.submit('often', seconds(50)),
  ])
  await Promise.all([barely, never, often].map((id) => ground.handedOver(id)))
  await worker.drain(AbortSignal.timeout(9_200))
  assert.equal((await ground.find(barely)).status, 'succeeded')
  assert.equal(
    (await ground.find(often)).status,
    'queued',
    'given back while there was time to run it elsewhere',
  )
  const lost = await ground.find(never)
  assert.deepEqual(
    [lost.status, lost.failure?.kind, lost.attempts, lost.reward],
    ['failed', 'sandbox_lost', 1, null],
  )
  assert.deepEqual(await ground.containers(), [])
  // Nor is it left to the worker of the next test.
  await ground.cancel(often)
})

test('a call that waits for memory when its worker ends is handed back untouched', async (t) => {
  await ground.makeTool('queue', { manifest: { constraints: { timeout_seconds: 60 } } })
  const worker = await ground.start(t, { drainSeconds: 2, memoryBytes: 100 * 1_048_576 })
  const first = await ground.submit('queue', seconds(50))
  await ground.handedOver(first)
  const second = await ground.submit('queue', seconds(0))
  await ground.until('to be claimed', second, (one) => one.status === 'running')
  await worker.drain(AbortSignal.timeout(100))
  for (const id of [first, second]) assert.equal((await ground.find(id)).status, 'queued')
})

test('without its engine a worker takes nothing, and goes on when it is back', async (t) => {
  await ground.makeTool('later')
  const worker = await ground.start(t)
  worker.setEngine(false)
  await ground.until(
    'to be noticed',
    await ground.submit('later', seconds(0)),
    () => worker.parts()['invocations']?.state === 'off',
  )
  const id = await ground.submit('later', seconds(0))
  assert.equal((await ground.find(id)).attempts, 0)
  worker.setEngine(true)
  assert.equal((await ground.final(id)).status, 'succeeded')
})
