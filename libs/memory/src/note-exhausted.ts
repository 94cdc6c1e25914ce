import type { Pool, Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { nextUtcDay } from './spend.ts'

export type Exhausted = { tool: string; spent: number; limit: number; resetsAt: Date }

const today = "(clock_timestamp() at time zone 'UTC')::date"
const isNews = `one.budget_day = ${today} and one.budget_told_on is distinct from ${today}
  and one.budget_spent >= wanted.cost_limit`

// index: tool_memory_pkey
const find = `
  select wanted.tool
  from unnest($1::text[], $2::double precision[]) as wanted (tool, cost_limit)
  join tool_memory as one on one.tool = wanted.tool
  where ${isNews}`

const note = `
  update tool_memory as one set budget_told_on = ${today}
  from (select $1::text as tool, $2::double precision as cost_limit) as wanted
  where one.tool = wanted.tool and ${isNews}
  returning one.budget_spent as spent, clock_timestamp() as now`

/**
 * Calls `tell` for each of these tools that has used up its budget, once a day, in the transaction that notes it. One
 * tool in each: whoever locked several would have to lock them in the order of those who write the memory.
 */
export async function noteExhausted(
  pool: Pool,
  limits: ReadonlyMap<string, number>,
  tell: (sql: Sql, exhausted: Exhausted) => Promise<void>,
): Promise<void> {
  const { rows } = await pool.query<{ tool: string }>(find, [[...limits.keys()], [...limits.values()]])
  for (const { tool } of rows) {
    const limit = limits.get(tool) ?? 0
    await transaction(pool, async (sql) => {
      const noted = await sql.query<{ spent: number; now: Date }>(note, [tool, limit])
      const [row] = noted.rows
      if (row !== undefined) await tell(sql, { tool, spent: row.spent, limit, resetsAt: nextUtcDay(row.now) })
    })
  }
}
