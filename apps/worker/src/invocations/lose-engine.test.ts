import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import { openProxy } from '@toolyard/testkit/open-proxy'
import { openGround } from './fixtures/ground.ts'

const ground = await openGround('redis')
const long = { do: 'sleep', arg: '60000' }

test('an engine that is lost under a tool is no fault of it: it runs again once its sandbox is dead for certain (I5)', async (t) => {
  const constraints = { timeout_seconds: 60, concurrency: 4 }
  await ground.makeTool('again', { manifest: { constraints } })
  await ground.makeTool('once', { manifest: { constraints: { ...constraints, rerun: false } } })
  const proxy = await openProxy(testDockerHost())
  t.after(() => proxy.close())
  await ground.start(t, { dockerHost: proxy.url })
  const [again, once] = await Promise.all([ground.submit('again', long), ground.submit('once', long)])
  const [[before], [lost]] = await Promise.all([ground.handedOver(again), ground.handedOver(once)])
  const cutMs = performance.now()
  proxy.cut()

  const ended = await ground.final(once)
  assert.ok(performance.now() - cutMs > 8_000, 'longer than an init lives that hears nothing')
  assert.deepEqual(
    [ended.failure?.kind, ended.failure?.class, ended.attempts, ended.reward],
    ['sandbox_lost', 'platform', 1, null],
  )
  proxy.mend()
  await ground.until('to run again', again, (one) => one.attempts >= 2 && one.status === 'running')
  for (const container of [before, lost]) assert.equal(await ground.isAlive(container ?? ''), false)
  await ground.cancel(again)
  assert.equal((await ground.final(again)).status, 'cancelled')
})

test('without an engine to start on, a call is tried three times and fails for a reason of ours', async (t) => {
  await ground.makeTool('unlucky')
  const proxy = await openProxy(testDockerHost())
  t.after(() => proxy.close())
  await ground.start(t, { dockerHost: proxy.url })
  proxy.cut()
  const one = await ground.final(await ground.submit('unlucky', { do: 'sleep', arg: '0' }))
  assert.deepEqual(
    [one.failure?.kind, one.failure?.class, one.attempts, one.reward],
    ['internal', 'platform', 3, null],
  )
})
