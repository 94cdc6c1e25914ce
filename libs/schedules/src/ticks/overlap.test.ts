import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '@toolyard/db/transaction'
import type { Overlap } from '../schedules/schedule.ts'
import { lockSchedules } from '../schedules/lock-schedules.ts'
import { syncSchedules } from '../schedules/sync-schedules.ts'
import { at, inWords, invocationOf, makeGround } from '../../fixtures/ground.ts'
import { claimOne } from '@toolyard/invocations/fixtures/world'
import { cancelOvertaken } from './cancel-overtaken.ts'
import { fireDue } from './fire-due.ts'
import { reconcile } from './reconcile.ts'
import { settle } from './settle.ts'

const ground = await makeGround()
const { deps, pool } = ground

async function begin(name: string, overlap: Overlap) {
  await ground.makeCron(name, { overlap })
  await syncSchedules(pool, at('10:00:00'))
  return (time: string) => fireDue(deps, [name], at(time))
}

const statusOf = async (id: string) =>
  (
    await pool.query<{ status: string; asked: boolean }>(
      'select status, cancel_requested_at is not null as asked from invocations where id = $1',
      [id],
    )
  ).rows[0]

test('skip: nothing begins while a run goes on, and the next tick after its end does', async () => {
  const fire = await begin('skipping', 'skip')
  const running = invocationOf(await fire('10:01:00'))
  assert.deepEqual(inWords(await fire('10:02:00')), ['10:02 skipped overlap'])
  const hold = await claimOne(deps, running)
  assert.deepEqual(inWords(await fire('10:03:00')), ['10:03 skipped overlap'])
  await ground.finish(hold)
  assert.deepEqual(inWords(await fire('10:04:00')), ['10:04 fired'])
  assert.equal((await ground.scheduleOf('skipping')).skipped_count, 2)
  assert.deepEqual(ground.takeTold().alarms, [], 'nothing waits')
})

test('buffer_one: the tick that waits begins with the end of the run before it', async () => {
  const fire = await begin('buffering', 'buffer_one')
  const first = invocationOf(await fire('10:01:00'))
  assert.deepEqual(inWords(await fire('10:03:00')), ['10:02 buffered', '10:03 skipped overlap'])
  assert.deepEqual(await fire('10:03:10'), [])
  await ground.end(first)
  // The end rings for it.
  assert.deepEqual(ground.takeTold().alarms, [{ id: `ended-${first}`, data: { tool: 'buffering' } }])
  const woken = await fire('10:03:20')
  assert.deepEqual(inWords(woken), ['10:02 fired'])
  assert.deepEqual(inWords(await fire('10:04:00')), ['10:04 buffered'])
  await ground.end(invocationOf(woken))
  // Where nobody hears the ringing, the next look does the same, also long after.
  const reconciled = await reconcile(deps, at('10:04:30'))
  assert.deepEqual(inWords(reconciled.filter(({ tool }) => tool === 'buffering')), ['10:04 fired'])
  assert.deepEqual(inWords(await ground.ticks('buffering')), [
    '10:01 fired',
    '10:02 fired',
    '10:03 skipped overlap',
    '10:04 fired',
  ])
  assert.equal((await ground.scheduleOf('buffering')).fired_count, 3)
})

test('buffer_one: many who hear of the same end begin one run', async () => {
  const fire = await begin('rung', 'buffer_one')
  const first = invocationOf(await fire('10:01:00'))
  await fire('10:02:00')
  await ground.end(first)
  const ticks = (await Promise.all(Array.from({ length: 8 }, () => fire('10:02:30')))).flat()
  assert.deepEqual(inWords(ticks), ['10:02 fired'])
})

test('an end and a tick at the same instant: it begins at once, or waits and begins with the ringing', async () => {
  const fire = await begin('racing', 'buffer_one')
  for (let minute = 1; minute <= 15; minute++) {
    const time = `10:${String(minute).padStart(2, '0')}`
    const before = await pool.query<{ id: string }>(
      "select id from invocations where tool = 'racing' and gate <> 'closed'",
    )
    const running = before.rows[0]?.id
    await Promise.all([running === undefined ? undefined : ground.end(running), fire(`${time}:00`)])
    const { alarms } = ground.takeTold()
    if (alarms.length > 0) await fire(`${time}:01`)
    const waiting = (await ground.ticks('racing')).filter(({ fate }) => fate === 'buffered')
    const live = await pool.query("select from invocations where tool = 'racing' and gate <> 'closed'")
    assert.deepEqual([waiting.length, live.rowCount], [0, 1], `at ${time} nothing may wait for nothing`)
  }
})

test('cancel_other: a newer tick ends the runs before it, whether they wait or run', async () => {
  const fire = await begin('newest', 'cancel_other')
  const queued = invocationOf(await fire('10:01:00'))
  const running = invocationOf(await fire('10:02:00'))
  assert.equal((await statusOf(queued))?.status, 'cancelled')
  await claimOne(deps, running)
  const last = invocationOf(await fire('10:03:00'))
  assert.deepEqual(await statusOf(running), { status: 'running', asked: true })
  assert.deepEqual(await statusOf(last), { status: 'queued', asked: false })
  const ticks = await ground.ticks('newest')
  assert.deepEqual(
    ticks.map(({ status }) => status),
    ['cancelled', null, null],
  )
  // A run that was cancelled for a newer one says nothing against the tool, and leaves nothing.
  assert.deepEqual([(await ground.scheduleOf('newest')).failures, ground.takeTold().prompts], [0, []])
})

test('cancel_other: a process that dies between the two commits leaves it to the next look', async () => {
  const fire = await begin('half_way', 'cancel_other')
  const old = invocationOf(await fire('10:01:00'))
  await transaction(pool, async (sql) =>
    settle(sql, deps.depth, await lockSchedules(sql, ['half_way']), at('10:02:00')),
  )
  assert.equal((await statusOf(old))?.status, 'queued')
  await reconcile(deps, at('10:02:01'))
  assert.equal((await statusOf(old))?.status, 'cancelled')
  assert.equal(await cancelOvertaken(deps), 0)
})

test('allow: runs stand beside each other', async () => {
  const fire = await begin('all', 'allow')
  await fire('10:01:00')
  await fire('10:03:00')
  const { rowCount } = await pool.query("select from invocations where tool = 'all' and gate <> 'closed'")
  assert.equal(rowCount, 3)
})
