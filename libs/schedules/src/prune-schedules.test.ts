import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPrefixedId } from '@toolyard/contract/ids'
import { testDatabase } from '@toolyard/testkit/database'
import { readsOf } from '@toolyard/testkit/plans'
import { rememberingPool } from '@toolyard/testkit/remembering-pool'
import { pruneSchedules } from './prune-schedules.ts'

const { pool, url } = await testDatabase()
const remembering = rememberingPool(url)
const kept = { tickDays: 30, promptDays: 20, stateDays: 7 }

/** Ended unless told otherwise. */
async function addTicks(tool: string, days: number, { count = 1, ends = true } = {}): Promise<void> {
  await pool.query(
    `insert into ticks (tool, tick_at, origin, fate, invocation_id, written_at, ended_at)
     select $1, at, 'schedule', 'fired', $1 || ' ' || n, at, case when $4 then at end
     from (select n, now() - $2 * interval '1 day' - n * interval '1 second' as at from generate_series(1, $3) as n) as made`,
    [tool, days, count, ends],
  )
}

async function addPrompt(name: string, days: number): Promise<void> {
  await pool.query(
    `insert into prompts (id, tool, invocation_id, tick_at, priority, text) values ($1, $2, $2, now(), 1, 'x')`,
    [newPrefixedId('prm', Date.now() - days * 86_400_000), name],
  )
}

async function addState(tool: string, days: number): Promise<void> {
  await pool.query(
    `insert into tool_states (tool, invocation_id, state, stored_at) values ($1, 'inv', '1', now() - $2 * interval '1 day')`,
    [tool, days],
  )
}

async function toolsIn(table: 'ticks' | 'prompts' | 'tool_states'): Promise<string[]> {
  const { rows } = await pool.query<{ tool: string }>(`select distinct tool from ${table} order by tool`)
  return rows.map(({ tool }) => tool)
}

test('ticks, prompts and states go each after its own time, in several batches; what has not ended stays', async () => {
  await addTicks('old', 32, { count: 1_100 })
  await addTicks('open', 32, { ends: false })
  // A backfill that began just before it was too old for one still finds it.
  await addTicks('young', 30.9)
  for (const [name, days] of [
    ['old', 21],
    ['young', 19],
  ] as const)
    await addPrompt(name, days)
  for (const [name, days] of [
    ['old', 8],
    ['young', 6],
  ] as const)
    await addState(name, days)
  assert.deepEqual(await pruneSchedules(pool, kept), { ticks: 1_100, prompts: 1, states: 1 })
  assert.deepEqual(await pruneSchedules(pool, kept), { ticks: 0, prompts: 0, states: 0 })
  assert.deepEqual(await toolsIn('ticks'), ['open', 'young'])
  assert.deepEqual(await toolsIn('prompts'), ['young'])
  assert.deepEqual(await toolsIn('tool_states'), ['young'])
  assert.deepEqual(await pruneSchedules(pool, { tickDays: 28, promptDays: 18, stateDays: 5 }), {
    ticks: 1,
    prompts: 1,
    states: 1,
  })
})

test('what is old is found by indexes, however many ticks, prompts and states there are', async () => {
  for (let tool = 0; tool < 40; tool++) await addTicks(`crowd_${tool}`, 1, { count: 1_000 })
  await pool.query(
    `insert into prompts (id, tool, invocation_id, tick_at, priority, text, status, ended_at)
     select 'prm_z' || n, 'crowd', 'crowd_' || n, now(), 1, 'x', 'acked', now() from generate_series(1, 20000) as n`,
  )
  await pool.query(
    `insert into tool_states (tool, invocation_id, state) select 'crowd_' || n, 'inv', '1' from generate_series(1, 20000) as n`,
  )
  await pool.query('vacuum analyze ticks, prompts, tool_states')
  await pruneSchedules(remembering.pool, kept)
  const missing = new Set(['index ticks_by_age', 'index prompts_pkey', 'index tool_states_by_age'])
  for (const statement of remembering.take()) {
    for (const [kind, reads] of Object.entries(await readsOf(pool, statement))) {
      for (const read of reads) {
        assert.doesNotMatch(read, /^whole/, `${kind} plan: ${statement.text}`)
        missing.delete(read)
      }
    }
  }
  assert.deepEqual([...missing], [])
})
