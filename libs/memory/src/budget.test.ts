import assert from 'node:assert/strict'
import { test } from 'node:test'
import { budgetShape } from '@toolyard/contract/memory'
import { transaction } from '@toolyard/db/transaction'
import { finish } from '@toolyard/invocations/finish'
import { failure } from '@toolyard/invocations/fixtures/outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { closedOne, quiet, widePool } from '../fixtures/ground.ts'
import { runningRows } from '../fixtures/running-rows.ts'
import { budgetsOf, toBudget, toBudgetShape } from './budget.ts'
import { recordOutcomes } from './record-outcomes.ts'

const { pool, url } = await testDatabase()
const wide = widePool(url, 60)

async function databaseNow(): Promise<Date> {
  const found = await pool.query<{ now: Date }>('select clock_timestamp() as now')
  const now = found.rows[0]?.now
  assert.ok(now)
  return now
}

async function budgetOf(tool: string, limit: number | null) {
  const budget = (await budgetsOf(pool, new Map([[tool, limit]]))).get(tool)
  assert.ok(budget)
  return budget
}

test('50 calls that end at once have cost 50, and the limit is reached', async () => {
  const holds = await runningRows(pool, 50, { tool: 'metered' })
  await Promise.all(
    holds.map((hold) =>
      finish({ pool: wide, afterCommit: quiet }, { hold, outcome: failure, within: recordOutcomes }),
    ),
  )
  const budget = await budgetOf('metered', 50)
  assert.deepEqual(
    [budget.spent, budget.limit, budget.isExhausted, 'remaining' in budget],
    [50, 50, true, false],
  )
  const now = await databaseNow()
  assert.ok(budget.resetsAt > now && budget.resetsAt.getTime() - now.getTime() <= 86_400_000)
  assert.equal(budget.resetsAt.toISOString().slice(10), 'T00:00:00.000Z')
  assert.equal((await budgetOf('metered', 51)).isExhausted, false)
  assert.equal((await budgetOf('metered', null)).isExhausted, false)
})

const row = {
  budget_remaining: null,
  budget_seen_at: null,
  budget_day: '2026-05-04',
  budget_spent: 7,
  now: new Date('2026-05-04T23:59:59.999Z'),
}

test('midnight UTC gives the whole limit back', () => {
  assert.deepEqual(toBudget(row, 7), {
    spent: 7,
    limit: 7,
    resetsAt: new Date('2026-05-05T00:00:00Z'),
    isExhausted: true,
  })
  assert.deepEqual(toBudget({ ...row, now: new Date('2026-05-05T00:00:00Z') }, 7), {
    spent: 0,
    limit: 7,
    resetsAt: new Date('2026-05-06T00:00:00Z'),
    isExhausted: false,
  })
})

test('the day is the one in UTC, whatever the time zone of the connection', async () => {
  // 23:30 in UTC is the next day in Auckland; 00:30 is the day before in Los Angeles.
  for (const zone of ['Pacific/Auckland', 'America/Los_Angeles']) {
    for (const finishedAt of [new Date('2026-05-04T23:30:00Z'), new Date('2026-05-04T00:30:00Z')]) {
      const tool = `zoned_${zone.length}_${finishedAt.getUTCHours()}`
      const day = await transaction(pool, async (sql) => {
        await sql.query(`set local time zone '${zone}'`)
        await recordOutcomes(sql, [closedOne({ tool, finishedAt })])
        await recordOutcomes(sql, [closedOne({ tool, finishedAt })])
        const found = await sql.query<{ day: string; spent: number; at: Date }>(
          'select budget_day::text as day, budget_spent as spent from tool_memory where tool = $1',
          [tool],
        )
        return found.rows[0]
      })
      assert.deepEqual(day, { day: '2026-05-04', spent: 2 })
    }
  }
})

test('what the tool says is shown, and does not refuse by itself', async () => {
  const now = await databaseNow()
  const tell = (remaining: number, agoMs: number) =>
    transaction(pool, (sql) =>
      recordOutcomes(sql, [
        closedOne({
          tool: 'telling',
          startedAt: new Date(now.getTime() - agoMs - 10),
          finishedAt: new Date(now.getTime() - agoMs),
          budgetRemaining: remaining,
        }),
      ]),
    )
  await tell(0.75, 200)
  await tell(0, 100)
  const budgets = await budgetsOf(
    pool,
    new Map([
      ['telling', null],
      ['silent', null],
      ['limited', 5],
    ]),
  )
  const telling = budgets.get('telling')
  assert.ok(telling)
  assert.deepEqual([telling.remaining, telling.spent, telling.isExhausted], [0, 0.75, false])
  const shown = budgetShape.parse(toBudgetShape(telling))
  assert.deepEqual([shown.remaining, shown.remaining_at], [0, new Date(now.getTime() - 100).toISOString()])
  const [silent, limited] = [budgets.get('silent'), budgets.get('limited')]
  assert.ok(silent && limited)
  assert.equal(toBudgetShape(silent), undefined, 'nothing to show')
  const { resets_at: resetsAt, ...rest } = toBudgetShape(limited) ?? {}
  assert.deepEqual(rest, { spent: 0, limit: 5, exhausted: false })
  assert.ok(resetsAt)
})
