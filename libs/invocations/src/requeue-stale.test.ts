import assert from 'node:assert/strict'
import { test } from 'node:test'
import { success } from '../fixtures/outcomes.ts'
import {
  ageLease,
  claimOne,
  makeTool,
  makeWorld,
  operator,
  passTime,
  rowOf,
  runningOne,
  worker,
} from '../fixtures/world.ts'
import { cancel } from './cancel.ts'
import type { ClosedInvocation } from './close-rows.ts'
import { finish } from './finish.ts'
import { getInvocation } from './get.ts'
import { leaseSeconds, staleGraceSeconds } from './limits.ts'
import { recordHandover } from './record-handover.ts'
import { renewLeases } from './renew-leases.ts'
import { requeueStale } from './requeue-stale.ts'

const world = await makeWorld()
const { pool, deps } = world

const workerSilenceSeconds = 25
const initSilenceSeconds = 8

test('a sandbox is dead before its invocation can be claimed again (I5)', async () => {
  assert.ok(workerSilenceSeconds + initSilenceSeconds + 5 < leaseSeconds + staleGraceSeconds)
  const hold = await runningOne(deps)
  await ageLease(pool, hold.id, leaseSeconds + staleGraceSeconds - 1)
  assert.equal(await requeueStale(deps), 0)
  assert.equal((await rowOf(pool, hold.id)).status, 'running')
  await ageLease(pool, hold.id, leaseSeconds + staleGraceSeconds + 1)
  assert.equal(await requeueStale(deps), 1)
  const row = await rowOf(pool, hold.id)
  assert.deepEqual([row.status, row.infra_failures, row.reward], ['queued', 1, null])
  assert.deepEqual(await finish(deps, { hold, outcome: success }), { kind: 'lost' })
  await passTime(pool, hold.id, 60)
  assert.equal((await claimOne(deps, hold.id, 2)).attempt, 2)
})

test('of several schedulers one takes a row back', async () => {
  const holds = await Promise.all(Array.from({ length: 5 }, () => runningOne(deps)))
  for (const { id } of holds) await ageLease(pool, id, 60)
  const counts = await Promise.all(Array.from({ length: 8 }, () => requeueStale(deps)))
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    5,
  )
  for (const { id } of holds) assert.equal((await rowOf(pool, id)).infra_failures, 1)
})

test('a finish and a requeue at once: one of them happens, and the other knows', async () => {
  for (let round = 0; round < 30; round++) {
    const hold = await runningOne(deps)
    await ageLease(pool, hold.id, 60)
    const [finished, taken] = await Promise.all([
      finish(deps, { hold, outcome: success }),
      requeueStale(deps),
    ])
    const { status } = await rowOf(pool, hold.id)
    if (finished.kind === 'closed') assert.deepEqual([status, taken], ['succeeded', 0])
    else assert.deepEqual([finished.kind, status, taken], ['lost', 'queued', 1])
  }
})

test('the third lost worker is the last; a cancel that was asked for is carried out', async () => {
  const hold = await runningOne(deps)
  for (const attempt of [2, 3]) {
    await ageLease(pool, hold.id, 60)
    await requeueStale(deps)
    await passTime(pool, hold.id, 60)
    await claimOne(deps, hold.id, attempt)
  }
  await ageLease(pool, hold.id, 60)
  const closed: ClosedInvocation[] = []
  await requeueStale(deps, async (_sql, ended) => void closed.push(...ended))
  const read = await getInvocation(pool, operator, hold.id)
  assert.deepEqual([read.status, read.failure?.kind, read.attempts], ['failed', 'sandbox_lost', 3])
  assert.deepEqual(
    closed.map(({ id, status, reward }) => [id, status, reward]),
    [[hold.id, 'failed', null]],
  )
  const wanted = await runningOne(deps)
  await cancel(deps, operator, { id: wanted.id })
  await ageLease(pool, wanted.id, 60)
  await requeueStale(deps)
  assert.equal((await rowOf(pool, wanted.id)).status, 'cancelled')
})

test('what may not run twice is not started again after its handover', async () => {
  await makeTool(pool, 'once', { constraints: { rerun: false } })
  const hold = await runningOne(deps, { tool: 'once' })
  await recordHandover(pool, hold, 'c1')
  await ageLease(pool, hold.id, 60)
  await requeueStale(deps)
  const read = await getInvocation(pool, operator, hold.id)
  assert.deepEqual([read.status, read.failure?.kind], ['failed', 'sandbox_lost'])
})

test('a row whose hook fails does not keep the others waiting', async () => {
  const holds = [await runningOne(deps), await runningOne(deps), await runningOne(deps)]
  for (const { id } of holds) {
    await pool.query('update invocations set infra_failures = 2 where id = $1', [id])
    await ageLease(pool, id, 60)
  }
  const bad = holds[1]?.id
  const within = async (_sql: unknown, closed: readonly ClosedInvocation[]) => {
    if (closed.some(({ id }) => id === bad)) throw new Error('no room')
  }
  await assert.rejects(requeueStale(deps, within), AggregateError)
  assert.deepEqual(await Promise.all(holds.map(async ({ id }) => (await rowOf(pool, id)).status)), [
    'failed',
    'running',
    'failed',
  ])
})

test('a worker renews all that it holds, hears what is lost and what is to be cancelled, and keeps its slots', async () => {
  const [kept, cancelled, lost] = [await runningOne(deps), await runningOne(deps), await runningOne(deps)]
  await cancel(deps, operator, { id: cancelled.id })
  await finish(deps, { hold: lost, outcome: success })
  await ageLease(pool, kept.id, 20)
  const forged = { id: kept.id, token: '00000000-0000-4000-8000-000000000000' }
  const renewal = await renewLeases(pool, { ...worker, slots: 16 }, [kept, cancelled, lost])
  assert.deepEqual(renewal, { lost: [lost.id], cancelRequested: [cancelled.id] })
  assert.deepEqual((await renewLeases(pool, { ...worker, slots: 16 }, [forged])).lost, [kept.id])
  const rows = await pool.query(
    "select lease_until > clock_timestamp() + interval '29 seconds' as is_fresh from invocations where id = $1",
    [kept.id],
  )
  assert.deepEqual(rows.rows, [{ is_fresh: true }])
  const seen = await pool.query('select slots from workers where id = $1', [worker.workerId])
  assert.deepEqual(seen.rows, [{ slots: 16 }])
})

test('a row that is being finished holds up no renewal, and is not called lost', async () => {
  const [busy, other] = [await runningOne(deps), await runningOne(deps)]
  await ageLease(pool, other.id, 20)
  const client = await pool.connect()
  await client.query('begin')
  await client.query('select 1 from invocations where id = $1 for no key update', [busy.id])
  const renewal = await renewLeases(pool, { ...worker, slots: 16 }, [busy, other])
  await client.query('rollback')
  client.release()
  assert.deepEqual(renewal, { lost: [], cancelRequested: [] })
  const found = await pool.query(
    "select lease_until > clock_timestamp() + interval '29 seconds' as is_fresh from invocations where id = $1",
    [other.id],
  )
  assert.equal(found.rows[0].is_fresh, true)
})

test('nothing is handed over on a lease that ran out, a token that is not current, or a call to be cancelled', async () => {
  const late = await runningOne(deps)
  await ageLease(pool, late.id, 31)
  assert.equal(await recordHandover(pool, late, 'c1'), 'lost')
  const forged = { id: late.id, token: '00000000-0000-4000-8000-000000000000' }
  assert.equal(await recordHandover(pool, forged, 'c1'), 'lost')
  const cancelled = await runningOne(deps)
  await cancel(deps, operator, { id: cancelled.id })
  assert.equal(await recordHandover(pool, cancelled, 'c1'), 'cancel_requested')
})
