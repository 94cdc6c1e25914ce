import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setToolsSwitch } from '@toolyard/catalog/tools-switch'
import { openGround, operator } from './fixtures/ground.ts'

const call = { actor: operator, requestId: 'req_1' }
const say = (text: string) => ({ do: 'print', arg: JSON.stringify({ text }) })

/** What depends on how jobs come, go and come back. */
export async function testOnQueue(backend: 'redis' | 'postgres'): Promise<void> {
  const ground = await openGround(backend)

  test(`${backend}: what is accepted before the switch goes off waits, and runs when it is lifted`, async (t) => {
    await ground.makeTool('switched')
    const id = await ground.submit('switched', say('ran'))
    await setToolsSwitch(ground.pool, call, false)
    await ground.start(t)
    const waiting = await ground.until('to wait', id, (one) => one.waitingFor === 'tools_disabled')
    assert.equal(waiting.attempts, 0)
    const liftedMs = performance.now()
    await setToolsSwitch(ground.pool, call, true)
    assert.equal((await ground.final(id)).result?.text, 'ran')
    assert.ok(performance.now() - liftedMs < 4_000)
  })

  test(`${backend}: a call waits for its image, at the cost of no attempt`, async (t) => {
    const { ready } = await ground.makeTool('young', { image: 'building' })
    await ground.start(t)
    const id = await ground.submit('young', say('ran'))
    await ground.until('to wait', id, (one) => one.waitingFor === 'image building')
    await ready()
    const one = await ground.final(id)
    assert.deepEqual([one.result?.text, one.attempts], ['ran', 1])
  })

  test(`${backend}: 50 calls go through 4 slots, each once`, async (t) => {
    await ground.makeTool('busy', {
      sandbox: { reuse: 100 },
      manifest: { constraints: { concurrency: 100 } },
    })
    const worker = await ground.start(t, { slots: 4 })
    const ids = await ground.withCaller((caller) =>
      Promise.all(Array.from({ length: 50 }, (_, at) => caller.submit('busy', say(String(at))))),
    )
    const ended = await Promise.all(ids.map((id) => ground.final(id)))
    assert.deepEqual(
      ended.map((one) => [one.status, one.result?.text, one.attempts]),
      ids.map((_, at) => ['succeeded', String(at), 1]),
    )
    await worker.drain(AbortSignal.timeout(5_000))
    assert.equal(new Set(ground.events().map((event) => event['invocation'])).size, ground.events().length)
    const { rows } = await ground.pool.query(
      `select max(running) as most from (
         select (select count(*)::integer from attempts as two
           where two.started_at <= one.started_at and two.ended_at > one.started_at) as running
         from attempts as one join invocations on id = invocation_id where tool = 'busy'
       ) as counted`,
    )
    assert.ok(rows[0]?.most <= 4, JSON.stringify(rows))
  })

  test(`${backend}: a tool that hangs holds up no other`, async (t) => {
    await ground.makeTool('hangs', { manifest: { constraints: { timeout_seconds: 60 } } })
    await ground.makeTool('works')
    await ground.start(t, { slots: 4 })
    const hanging = await ground.withCaller((caller) =>
      Promise.all(Array.from({ length: 10 }, () => caller.submit('hangs', { do: 'sleep', arg: '60000' }))),
    )
    await Promise.any(hanging.map((id) => ground.handedOver(id)))
    const one = await ground.final(await ground.submit('works', say('ran')))
    assert.equal(one.result?.text, 'ran')
    const running = await ground.pool.query(
      "select from invocations where tool = 'hangs' and status = 'running'",
    )
    assert.equal(running.rowCount, 2, 'half of the slots is the most that one tool gets')
    for (const id of hanging) await ground.cancel(id)
  })

  test(`${backend}: two topics never share a sandbox, whoever calls when`, async (t) => {
    await ground.makeTool('shared', { sandbox: { reuse: 100 } })
    const worker = await ground.start(t)
    for (let round = 0; round < 3; round++)
      for (const topic of ['mine', 'yours']) {
        const id = await ground.submit('shared', say(topic), { topic })
        assert.equal((await ground.final(id)).result?.text, topic)
      }
    await worker.drain(AbortSignal.timeout(5_000))
    const { rows } = await ground.pool.query<{ container_id: string; topics: string }>(
      `select container_id, count(distinct topic)::integer as topics, count(*)::integer as calls
       from attempts join invocations on id = invocation_id
       where tool = 'shared' group by container_id order by 1`,
    )
    assert.deepEqual(new Set(rows.map(({ topics }) => topics)), new Set([1]))
    assert.ok(rows.length < 6, 'and each is reused')
  })
}
