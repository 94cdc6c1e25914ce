import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { readsOf } from '@toolyard/testkit/plans'
import { rememberingPool } from '@toolyard/testkit/remembering-pool'
import { boundKey, operator } from '../../fixtures/ground.ts'
import { listPrompts } from './list-prompts.ts'

// That no list walks past what it does not show: of 60,000 prompts twenty are acked and twenty superseded, all of them
// long ago.

const { pool, url } = await testDatabase()
const remembering = rememberingPool(url)

before(async () => {
  await pool.query(
    `insert into prompts (id, tool, invocation_id, tick_at, priority, text, status, ended_at)
     select 'prm_' || lpad(n::text, 26, '0'), 'tool_' || n % 50, 'inv_' || n, now(), 1, repeat('x', 200), status,
       case when status <> 'waiting' then now() end
     from (
       select n, case when n <= 20 then 'superseded' when n between 51 and 70 then 'acked' else 'waiting' end as status
       from generate_series(1, 60000) as n) as made`,
  )
  await pool.query('vacuum analyze prompts')
})

const anybody = operator.actor
const bound = boundKey({ tools: ['tool_1', 'tool_2'] })

const lists = [
  { actor: anybody, status: 'superseded', index: 'prompts_ended', found: 20 },
  { actor: anybody, status: 'acked', index: 'prompts_ended', found: 20 },
  { actor: bound, status: 'superseded', index: 'prompts_ended_by_tool', found: 2 },
  { actor: bound, status: 'acked', index: 'prompts_ended_by_tool', found: 2 },
  { actor: anybody, status: undefined, index: 'prompts_pkey', found: 50 },
  { actor: bound, status: undefined, index: 'prompts_by_tool', found: 50 },
] as const

for (const { actor, status, index, found } of lists) {
  const whose = actor === bound ? 'of some tools' : 'of all tools'
  test(`prompts ${whose} that are ${status ?? 'in any state'}: by ${index}`, async () => {
    remembering.take()
    const { prompts } = await listPrompts(remembering.pool, actor, { status })
    assert.equal(prompts.length, found)
    const [statement] = remembering.take()
    assert.ok(statement)
    for (const reads of Object.values(await readsOf(pool, statement)))
      assert.deepEqual(
        [...reads].toSorted(),
        [...new Set([`index ${index}`, 'index prompts_pkey'])].toSorted(),
      )
  })
}
