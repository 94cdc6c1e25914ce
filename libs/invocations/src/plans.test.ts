import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { planTexts, readsOf } from '@toolyard/testkit/plans'
import type { Statement } from '@toolyard/testkit/remembered-statements'
import { rememberingPool } from '@toolyard/testkit/remembering-pool'
import { testDatabase } from '@toolyard/testkit/database'
import { hotVerbs } from '../fixtures/hot-verbs.ts'
import { addEnded, addWaiting, busyTool } from '../fixtures/many.ts'
import { readBudgets } from './read-budgets.ts'

// That the statements of every day read by the indexes that they should, and nothing that grows whole: by the plan for
// their own values, and by the one that Postgres keeps for any.

const count = 60_000
const growing = [
  'invocations',
  'invocation_inputs',
  'invocation_outcomes',
  'invocation_raws',
  'attempts',
  'idempotency',
]
const { pool, url } = await testDatabase()
const remembering = rememberingPool(url)
const verbs = hotVerbs({
  deps: { pool: remembering.pool, afterCommit: { run: () => {} } },
  pool,
  count,
})

before(async () => {
  await addWaiting(pool)
  await addEnded(pool, { first: 1, count, days: [29, 0.01] })
  await pool.query(
    `insert into idempotency select 'k', n::text, '', n::text, now() + interval '1 day' from generate_series(1, 20000) as n`,
  )
  await pool.query(`vacuum analyze ${growing.join()}`)
})

async function describe(statement: Statement): Promise<string> {
  const { own, generic } = await planTexts(pool, statement)
  return [statement.text, own, generic].join('\n\n')
}

for (const { name, indexes, run } of verbs) {
  test(`${name}: by ${indexes.join(', ')}`, async () => {
    const missing = new Set(indexes)
    await run(async (work) => {
      remembering.take()
      const done = await work()
      const statements = remembering.take()
      assert.ok(statements.length > 0)
      for (const statement of statements) {
        for (const [kind, reads] of Object.entries(await readsOf(pool, statement))) {
          const whole = growing.filter((table) => reads.has(`whole ${table}`))
          if (whole.length > 0) assert.fail(`${whole.join()}, ${kind} plan: ${await describe(statement)}`)
          for (const read of reads) missing.delete(read.replace('index ', ''))
        }
      }
      return done
    })
    assert.deepEqual([...missing], [])
  })
}

test('what a tool with a budget has under way: by invocations_by_tool', async () => {
  remembering.take()
  const budgets = await readBudgets(remembering.pool, new Map([[busyTool, 1]]))
  assert.ok((budgets.get(busyTool)?.inFlight ?? 0) > 0)
  for (const statement of remembering.take())
    for (const [kind, reads] of Object.entries(await readsOf(pool, statement)))
      assert.ok(
        reads.has('index invocations_by_tool') && !reads.has('whole invocations'),
        `${kind}: ${await describe(statement)}`,
      )
})
