import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineGone, failure, result, success } from '../fixtures/outcomes.ts'
import {
  claimOne,
  makeTool,
  makeWorld,
  operator,
  passTime,
  rowOf,
  runningOne,
  submitOne,
} from '../fixtures/world.ts'
import { cancel } from './cancel.ts'
import type { ClosedInvocation } from './close-rows.ts'
import { finish } from './finish.ts'
import { getInvocation } from './get.ts'
import { getRaw } from './get-raw.ts'
import { recordHandover } from './record-handover.ts'

const world = await makeWorld()
const { pool, deps } = world

const outcomeCount = async (id: string) =>
  (await pool.query('select 1 from invocation_outcomes where id = $1', [id])).rowCount

test('an outcome is written with everything that belongs to it, and told after the commit', async () => {
  const hold = await runningOne(deps, {
    searchId: 's1',
  })
  world.effects()
  const seen: ClosedInvocation[] = []
  const raw = { stdout: new Uint8Array([0, 255, 10]), stderrTail: Buffer.from('warn\0') }
  const within = async (_sql: unknown, closed: readonly ClosedInvocation[]) => void seen.push(...closed)
  assert.deepEqual(await finish(deps, { hold, outcome: success, raw, within }), {
    kind: 'closed',
    status: 'succeeded',
    isRepeated: false,
  })
  const read = await getInvocation(pool, operator, hold.id)
  assert.deepEqual(read.result, result)
  assert.equal(read.reward, 0.3)
  assert.ok(read.finishedAt && read.startedAt && read.finishedAt >= read.startedAt)
  assert.deepEqual(world.effects().finished, [hold.id])
  const [closed] = seen
  assert.deepEqual(
    [seen.length, closed?.status, closed?.topic, closed?.searchId, closed?.keyId, closed?.attempts],
    [1, 'succeeded', 'trip', 's1', 'k1', 1],
  )
  const kept = await getRaw(pool, operator, hold.id)
  assert.deepEqual(kept?.stdout, Buffer.from([0, 255, 10]))
  assert.deepEqual(kept?.stderrTail, Buffer.from('warn\0'))
  const attempts = await pool.query(
    'select end_reason from attempts where invocation_id = $1 and ended_at is not null',
    [hold.id],
  )
  assert.deepEqual(attempts.rows, [{ end_reason: 'succeeded' }])
})

test('of 20 finishes at once one is written, and the others hear of it (I3)', async () => {
  const hold = await runningOne(deps)
  let writes = 0
  const within = async () => void (writes += 1)
  const finished = await Promise.all(
    Array.from({ length: 20 }, () => finish(deps, { hold, outcome: success, within })),
  )
  assert.equal(finished.filter((one) => one.kind === 'closed' && !one.isRepeated).length, 1)
  assert.equal(finished.filter((one) => one.kind === 'closed' && one.isRepeated).length, 19)
  assert.deepEqual([writes, await outcomeCount(hold.id)], [1, 1])
})

test('without the current token nothing is written (I2)', async () => {
  await makeTool(pool, 'tries', { constraints: { retries: 1 } })
  const first = await runningOne(deps, { tool: 'tries' })
  const forged = { id: first.id, token: '00000000-0000-4000-8000-000000000000' }
  assert.deepEqual(await finish(deps, { hold: forged, outcome: success }), { kind: 'lost' })
  assert.equal((await finish(deps, { hold: first, outcome: failure })).kind, 'again')
  assert.deepEqual(await finish(deps, { hold: first, outcome: success }), { kind: 'lost' }, 'queued again')
  await passTime(pool, first.id, 5)
  const second = await claimOne(deps, first.id, 2)
  assert.deepEqual(await finish(deps, { hold: first, outcome: success }), { kind: 'lost' }, 'another runs')
  assert.equal((await finish(deps, { hold: second, outcome: failure })).kind, 'closed')
  assert.deepEqual(
    await finish(deps, { hold: first, outcome: success }),
    { kind: 'lost' },
    'another has ended',
  )
  assert.equal((await rowOf(pool, first.id)).status, 'failed')
})

test('what the hook throws rolls everything back, and the finish can be tried again', async () => {
  const hold = await runningOne(deps)
  world.effects()
  const within = async () => {
    throw new Error('memory is away')
  }
  await assert.rejects(finish(deps, { hold, outcome: success, within }), /memory is away/)
  assert.equal((await rowOf(pool, hold.id)).status, 'running')
  assert.deepEqual(world.effects().finished, [])
  assert.equal(await outcomeCount(hold.id), 0)
  assert.equal((await finish(deps, { hold, outcome: success })).kind, 'closed')
})

test('a tool that fails is tried again as often as its manifest says, later each time, and only the last try counts', async () => {
  await makeTool(pool, 'flaky', { constraints: { retries: 2 } })
  const { id } = await submitOne(deps, { tool: 'flaky' })
  const delays: number[] = []
  for (let attempt = 1; attempt <= 2; attempt++) {
    world.effects()
    const finished = await finish(
      deps,
      { hold: await claimOne(deps, id, attempt), outcome: failure },
      () => 0,
    )
    assert.ok(finished.kind === 'again')
    delays.push(finished.delayMs)
    assert.deepEqual(world.effects().jobs, [`${id}-${attempt + 1}-due`])
    const waiting = await rowOf(pool, id)
    assert.deepEqual([waiting.status, waiting.gate, waiting.reward], ['queued', 'delayed', null])
    await passTime(pool, id, 60)
  }
  assert.deepEqual(delays, [1_000, 2_000])
  assert.equal((await finish(deps, { hold: await claimOne(deps, id, 3), outcome: failure })).kind, 'closed')
  const row = await rowOf(pool, id)
  assert.deepEqual(
    [row.status, row.attempts, row.tool_failures, row.infra_failures, row.reward],
    ['failed', 3, 2, 0, -0.2],
  )
})

test('a retry has the whole time to live again, from when it may start', async () => {
  await makeTool(pool, 'patient', { constraints: { retries: 1 } })
  const hold = await runningOne(deps, { tool: 'patient', ttlMs: 10_000 })
  await passTime(pool, hold.id, 9)
  await finish(deps, { hold, outcome: failure })
  const found = await pool.query(
    'select extract(epoch from expires_at - not_before)::float as ttl from invocations where id = $1',
    [hold.id],
  )
  assert.equal(found.rows[0].ttl, 10)
})

test('a fault of ours costs no reward and ends after three', async () => {
  const { id } = await submitOne(deps)
  for (const attempt of [1, 2]) {
    assert.equal(
      (await finish(deps, { hold: await claimOne(deps, id, attempt), outcome: engineGone })).kind,
      'again',
    )
    await passTime(pool, id, 60)
  }
  assert.equal(
    (await finish(deps, { hold: await claimOne(deps, id, 3), outcome: engineGone })).kind,
    'closed',
  )
  const read = await getInvocation(pool, operator, id)
  assert.deepEqual([read.status, read.failure?.kind, read.reward], ['failed', 'image_unavailable', null])
})

test('a tool that may not run twice is not started again once its payload was handed over', async () => {
  await makeTool(pool, 'once', { constraints: { rerun: false, retries: 5 } })
  const before = await runningOne(deps, { tool: 'once' })
  assert.equal(
    (await finish(deps, { hold: before, outcome: engineGone })).kind,
    'again',
    'nothing was handed over',
  )
  const recorded = await runningOne(deps, { tool: 'once' })
  assert.equal(await recordHandover(pool, recorded, 'c1'), 'held')
  await finish(deps, { hold: recorded, outcome: { kind: 'stopped' } })
  const told = await runningOne(deps, { tool: 'once' })
  await finish(deps, { hold: told, outcome: { ...engineGone, isHandedOver: true } })
  for (const { id } of [recorded, told]) {
    const read = await getInvocation(pool, operator, id)
    assert.deepEqual([read.status, read.failure?.kind, read.attempts], ['failed', 'sandbox_lost', 1])
  }
  const failed = await runningOne(deps, { tool: 'once' })
  await finish(deps, { hold: failed, outcome: failure })
  assert.equal((await rowOf(pool, failed.id)).status, 'failed', 'no retry either')
})

test('a handover is forgotten with its attempt', async () => {
  await makeTool(pool, 'again', { constraints: { retries: 1 } })
  const first = await runningOne(deps, { tool: 'again' })
  await recordHandover(pool, first, 'c1')
  await finish(deps, { hold: first, outcome: failure })
  await passTime(pool, first.id, 60)
  await claimOne(deps, first.id, 2)
  const found = await pool.query('select handed_over_at from invocations where id = $1', [first.id])
  assert.equal(found.rows[0].handed_over_at, null)
  const tries = await pool.query(
    'select attempt, container_id, end_reason from attempts where invocation_id = $1 order by 1',
    [first.id],
  )
  assert.deepEqual(tries.rows, [
    { attempt: 1, container_id: 'c1', end_reason: 'tool failed' },
    { attempt: 2, container_id: null, end_reason: null },
  ])
})

test('what is handed back is in the queue again at once, and costs no failure', async () => {
  const hold = await runningOne(deps)
  world.effects()
  assert.deepEqual(await finish(deps, { hold, outcome: { kind: 'stopped' } }), { kind: 'again', delayMs: 0 })
  assert.deepEqual(world.effects().jobs, [`${hold.id}-2`])
  const row = await rowOf(pool, hold.id)
  assert.deepEqual([row.status, row.gate, row.infra_failures, row.tool_failures], ['queued', 'open', 0, 0])
})

test('whatever an attempt ends with after cancelling was asked for, it is cancelled', async () => {
  const outcomes = [success, failure, engineGone, { kind: 'stopped' } as const]
  for (const outcome of outcomes) {
    const hold = await runningOne(deps)
    assert.deepEqual(await cancel(deps, operator, { id: hold.id }), { kind: 'requested' })
    assert.deepEqual(await finish(deps, { hold, outcome }), {
      kind: 'closed',
      status: 'cancelled',
      isRepeated: false,
    })
    const read = await getInvocation(pool, operator, hold.id)
    assert.deepEqual([read.result, read.reward, read.failure?.kind], [null, null, 'cancelled'])
  }
})

test('a finish and a cancel at once: what commits first wins, and both are told the truth', async () => {
  for (let round = 0; round < 40; round++) {
    const hold = await runningOne(deps)
    const [finished, cancelled] = await Promise.all([
      finish(deps, { hold, outcome: success }),
      cancel(deps, operator, { id: hold.id }),
    ])
    const { status } = await rowOf(pool, hold.id)
    assert.ok(finished.kind === 'closed' && finished.status === status)
    assert.equal(cancelled.kind, status === 'cancelled' ? 'requested' : 'already_final')
  }
})

test('a result of a megabyte is stored whole', async () => {
  const hold = await runningOne(deps)
  const large = { ...result, data: 'ä'.repeat(500_000) }
  await finish(deps, { hold, outcome: { kind: 'succeeded', result: large } })
  assert.deepEqual((await getInvocation(pool, operator, hold.id)).result, large)
})
