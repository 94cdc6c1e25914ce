import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { readsOf } from '@toolyard/testkit/plans'
import { rememberingPool } from '@toolyard/testkit/remembering-pool'
import { at, timeOf } from '../../fixtures/ground.ts'
import { readOpenTicks } from './read-open-ticks.ts'

const { pool, url } = await testDatabase()
const remembering = rememberingPool(url)
const tools = Array.from({ length: 100 }, (_, index) => `tool_${index}`)

// Of each of a hundred tools four hundred ticks have ended, three hundred of a backfill wait, and one that came after.
before(async () => {
  const insert = `
    insert into ticks (tool, tick_at, origin, fate, invocation_id, ended_at)
    select tool, $2::timestamptz + n * interval '1 second', $3, $4,
      case when $4 = 'fired' then 'inv_' || tool || '_' || n end, case when $4 = 'fired' then now() end
    from unnest($1::text[]) as wanted (tool), generate_series(1, $5::integer) as n`
  await pool.query(insert, [tools, at('08:00:00'), 'schedule', 'fired', 400])
  await pool.query(insert, [tools, at('09:00:00'), 'backfill', 'buffered', 300])
  await pool.query(insert, [tools, at('10:00:00'), 'schedule', 'buffered', 1])
  await pool.query('vacuum analyze ticks')
})

test('of what waits the first are read: a backfill after all others, and else the oldest first', async () => {
  const openOf = await readOpenTicks(pool, ['tool_1', 'tool_2'], 3)
  for (const tool of ['tool_1', 'tool_2'])
    assert.deepEqual(
      openOf(tool).buffered.map(({ tickAt, origin }) => `${timeOf(tickAt)} ${origin}`),
      ['10:00:01 schedule', '09:00:01 backfill', '09:00:02 backfill'],
    )
  assert.deepEqual(openOf('tool_3'), { runningCount: 0, backfillCount: 0, buffered: [] })
})

test('however many wait, what is open is read by the indexes that are made for it', async () => {
  remembering.take()
  await readOpenTicks(remembering.pool, tools, 11)
  const [running, waiting, ...others] = remembering.take()
  assert.ok(running !== undefined && waiting !== undefined && others.length === 0)
  for (const reads of Object.values(await readsOf(pool, waiting)))
    assert.deepEqual([...reads], ['index ticks_waiting'])
  for (const reads of Object.values(await readsOf(pool, running))) assert.ok(!reads.has('whole ticks'))
})
