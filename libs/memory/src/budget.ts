import type { BudgetShape } from '@toolyard/contract/memory'
import type { Sql } from '@toolyard/db/pool'
import { nextUtcDay, spentOn } from './spend.ts'

export type ToolBudget = {
  /** What the tool said last of its own account, and when. */
  remaining?: number
  remainingAt?: Date
  /** Since midnight UTC. */
  spent: number
  /** `constraints.cost_budget`. Null: the tool may spend what it wants. */
  limit: number | null
  resetsAt: Date
  /** Of the limit. What the tool says remains does not refuse a call, or nobody would hear that it rose again. */
  isExhausted: boolean
}

// index: tool_memory_pkey; one row for each tool that is named
const select = `
  select wanted.tool, one.budget_remaining, one.budget_seen_at, one.budget_day::text,
    coalesce(one.budget_spent, 0) as budget_spent, clock_timestamp() as now
  from unnest($1::text[]) as wanted (tool) left join tool_memory as one using (tool)`

export type BudgetRow = {
  budget_remaining: number | null
  budget_seen_at: Date | null
  budget_day: string | null
  budget_spent: number
  now: Date
}

/**
 * To be shown. Whether one more call is accepted is judged with those under way (`read-budgets.ts` of libs/invocations).
 * `limits`: of each tool that is asked for, its `constraints.cost_budget`.
 */
export async function budgetsOf(
  sql: Sql,
  limits: ReadonlyMap<string, number | null>,
): Promise<Map<string, ToolBudget>> {
  const { rows } = await sql.query<BudgetRow & { tool: string }>(select, [[...limits.keys()]])
  return new Map(rows.map((row) => [row.tool, toBudget(row, limits.get(row.tool) ?? null)]))
}

export function toBudget(row: BudgetRow, limit: number | null): ToolBudget {
  const { budget_remaining: remaining, budget_seen_at: seenAt } = row
  const spent = spentOn({ day: row.budget_day, spent: row.budget_spent }, row.now)
  return {
    ...(remaining === null || seenAt === null ? {} : { remaining, remainingAt: seenAt }),
    spent,
    limit,
    resetsAt: nextUtcDay(row.now),
    isExhausted: limit !== null && spent >= limit,
  }
}

/** Undefined: the tool has no limit and has never told what remains, so there is nothing to show. */
export function toBudgetShape(budget: ToolBudget): BudgetShape | undefined {
  const { remaining, remainingAt, spent, limit, resetsAt, isExhausted } = budget
  if (limit === null && remaining === undefined) return undefined
  return {
    ...(remaining === undefined ? {} : { remaining }),
    ...(remainingAt === undefined ? {} : { remaining_at: remainingAt.toISOString() }),
    spent,
    limit,
    resets_at: resetsAt.toISOString(),
    exhausted: isExhausted,
  }
}
