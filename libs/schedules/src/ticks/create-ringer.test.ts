import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, inWords, makeGround, operator } from '../../fixtures/ground.ts'
import { listAwaited } from '../schedules/list-awaited.ts'
import { pauseSchedule } from '../schedules/pause-schedule.ts'
import { syncSchedules } from '../schedules/sync-schedules.ts'
import { readClock } from '../read-clock.ts'
import { createRinger } from './create-ringer.ts'
import { fireAllDue } from './fire-all-due.ts'
import { createScheduleDeps } from './fire-due.ts'

const ground = await makeGround()
const { deps, pool } = ground

test('alarms that come together share a transaction, and each is answered for its own tool', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `bell_${index}`)
  for (const name of names) await ground.makeCron(name, { overlap: 'allow' })
  await syncSchedules(pool, at('10:00:00'))
  const ring = createRinger(deps, async () => at('10:01:00'))
  const answers = await Promise.all([...names, ...names, 'no_schedule'].map((name) => ring(name)))
  const rung = [...names, ...names, 'no_schedule']
  answers.forEach((ticks, index) => assert.ok(ticks.every(({ tool }) => tool === rung[index])))
  assert.equal(answers.flat().length, 40)
  const { rows } = await pool.query<{ transactions: number }>(
    "select count(distinct xmin::text)::integer as transactions from ticks where tool like 'bell%'",
  )
  assert.ok((rows[0]?.transactions ?? 40) <= 4, `${rows[0]?.transactions} transactions`)
})

test('what cannot be written of one tool is told to its alarm alone', async () => {
  await ground.makeCron('sound', { overlap: 'allow' })
  await ground.makeCron('unsound', { overlap: 'allow' })
  await syncSchedules(pool, at('10:00:00'))
  await pool.query(`update schedules set fired_count = 2147483647 where tool = 'unsound'`)
  const ring = createRinger(deps, async () => at('10:01:00'))
  const [sound, unsound] = await Promise.allSettled([ring('sound'), ring('unsound')])
  assert.equal(unsound?.status, 'rejected')
  assert.ok(sound?.status === 'fulfilled')
  assert.deepEqual(inWords(await ground.ticks('sound')), ['10:01 fired'])
  assert.deepEqual(await ground.ticks('unsound'), [])
  // Nor does it keep those from their ticks that are looked for without alarms.
  const failing = createScheduleDeps(deps)
  await assert.rejects(fireAllDue(failing, at('10:02:00')), AggregateError)
  assert.deepEqual(inWords(await ground.ticks('sound')), ['10:01 fired', '10:02 fired'])
})

test('the clock of the database is the one that counts', async () => {
  assert.ok(Math.abs((await readClock(pool)).getTime() - Date.now()) < 60_000)
})

test('alarms are wanted for what is not paused and comes again', async () => {
  await pool.query('truncate schedules, ticks, tools cascade')
  await ground.makeCron('awaited', { schedule: '*/30', timezone: 'Europe/Malta' })
  await ground.makeCron('rests')
  await ground.makeCron('never', { schedule: '0 0 30 2 *' })
  await syncSchedules(pool, at('10:00:00'))
  await pauseSchedule(deps, operator, { tool: 'rests', reason: 'r', now: at('10:00:00') })
  assert.deepEqual(await listAwaited(pool), [
    { tool: 'awaited', schedule: '*/30', timezone: 'Europe/Malta', nextTickAt: at('10:30:00') },
  ])
})
