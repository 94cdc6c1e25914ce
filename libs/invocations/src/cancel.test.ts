import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { success } from '../fixtures/outcomes.ts'
import {
  keyActor,
  makeWorld,
  operator,
  passTime,
  rowOf,
  runningOne,
  submitOne,
  worker,
} from '../fixtures/world.ts'
import { cancel } from './cancel.ts'
import { claim } from './claim.ts'
import type { ClosedInvocation } from './close-rows.ts'
import { expire } from './expire.ts'
import { finish } from './finish.ts'
import { getInvocation } from './get.ts'

const world = await makeWorld()
const { pool, deps } = world

test('what is queued is cancelled at once, with all that belongs to an end', async () => {
  const { id } = await submitOne(deps)
  world.effects()
  const closed: ClosedInvocation[] = []
  const within = async (_sql: unknown, ended: readonly ClosedInvocation[]) => void closed.push(...ended)
  assert.deepEqual(await cancel(deps, operator, { id, within }), { kind: 'cancelled' })
  assert.deepEqual(world.effects().finished, [id])
  assert.deepEqual(
    closed.map(({ id: one, status, reward }) => [one, status, reward]),
    [[id, 'cancelled', null]],
  )
  const read = await getInvocation(pool, operator, id)
  assert.deepEqual(
    [read.status, read.failure?.kind, read.attempts, read.startedAt],
    ['cancelled', 'cancelled', 0, null],
  )
  assert.deepEqual(await cancel(deps, operator, { id }), { kind: 'already_final', status: 'cancelled' })
})

test('what runs is asked to end, as often as wanted', async () => {
  const { id } = await runningOne(deps)
  world.effects()
  assert.deepEqual(await cancel(deps, operator, { id }), { kind: 'requested' })
  assert.deepEqual(world.effects().cancelRequested, [id])
  assert.deepEqual(await cancel(deps, operator, { id }), { kind: 'requested' })
  assert.ok((await getInvocation(pool, operator, id)).cancelRequested)
})

test('what has ended stays as it is', async () => {
  const hold = await runningOne(deps)
  await finish(deps, { hold, outcome: success })
  assert.deepEqual(await cancel(deps, operator, { id: hold.id }), {
    kind: 'already_final',
    status: 'succeeded',
  })
})

test('a claim and a cancel at once: the row is cancelled, or runs and knows of it', async () => {
  for (let round = 0; round < 40; round++) {
    const { id } = await submitOne(deps)
    const [claimed, cancelled] = await Promise.all([
      claim(deps, worker, { invocationId: id, attempt: 1 }),
      cancel(deps, operator, { id }),
    ])
    const { status } = await rowOf(pool, id)
    if (claimed.kind === 'claimed') assert.deepEqual([cancelled.kind, status], ['requested', 'running'])
    else assert.deepEqual([cancelled.kind, status], ['cancelled', 'cancelled'])
  }
})

test('who may not see it cannot cancel it', async () => {
  const { id } = await submitOne(deps, { topic: 'mine' })
  const hidden = (error: unknown) => error instanceof AppError && error.code === 'not_found'
  await assert.rejects(cancel(deps, keyActor({ topics: ['theirs'] }), { id }), hidden)
  await assert.rejects(cancel(deps, keyActor({ tools: ['other'] }), { id }), hidden)
  await assert.rejects(cancel(deps, operator, { id: "inv_' or 1=1" }), hidden)
  await assert.rejects(cancel(deps, operator, { id: 'inv_00000000000000000000000000' }), hidden)
  assert.deepEqual(await cancel(deps, keyActor({ topics: ['mine'] }), { id }), { kind: 'cancelled' })
})

test('what did not get to run within its time to live expires; what runs does not', async () => {
  const waiting = await submitOne(deps, { ttlMs: 1_000 })
  const delayed = await submitOne(deps, { ttlMs: 1_000, delayMs: 60_000 })
  const running = await runningOne(deps, { ttlMs: 1_000 })
  for (const { id } of [waiting, delayed, running]) await passTime(pool, id, 2)
  world.effects()
  assert.equal(await expire(deps), 1)
  assert.deepEqual(world.effects().finished, [waiting.id])
  const read = await getInvocation(pool, operator, waiting.id)
  assert.deepEqual([read.status, read.failure?.kind, read.reward], ['expired', 'expired', null])
  assert.equal((await rowOf(pool, delayed.id)).status, 'queued')
  assert.equal((await rowOf(pool, running.id)).status, 'running')
})

test('hundreds expire, once each, however many expire them; one that cannot be closed stays alone', async () => {
  const ids = (await Promise.all(Array.from({ length: 450 }, () => submitOne(deps, { ttlMs: 1_000 })))).map(
    ({ id }) => id,
  )
  await pool.query('update invocations set expires_at = clock_timestamp() where id = any($1)', [ids])
  const counted = new Map<string, number>()
  const within = async (_sql: unknown, closed: readonly ClosedInvocation[]) => {
    if (closed.some(({ id }) => id === ids[7])) throw new Error('no room')
    for (const { id } of closed) counted.set(id, (counted.get(id) ?? 0) + 1)
  }
  const results = await Promise.allSettled([expire(deps, within), expire(deps, within), expire(deps, within)])
  assert.ok(results.some(({ status }) => status === 'rejected'))
  assert.deepEqual(new Set(counted.values()), new Set([1]))
  await assert.rejects(expire(deps, within), AggregateError)
  assert.equal(counted.size, 449)
  assert.equal(await expire(deps), 1)
})
