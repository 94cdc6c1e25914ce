import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'

/** How much of its `constraints.cost_budget` a tool has left for today (UTC). */
export type Budget = {
  limit: number
  spent: number
  /**
   * Accepted and not ended: each will cost 1 of a tool that does not tell what remains. Null of one that does: what a
   * call of it costs is known by its end alone.
   */
  inFlight: number | null
  resetsAt: Date
  resetsInSeconds: number
}

// indexes: tool_memory_pkey, invocations_by_tool. One statement: what an end takes from the one and adds to the other
// must not be seen twice, nor in neither.
const select = prepared(`
  select wanted.tool, clock.resets_at,
    extract(epoch from clock.resets_at - clock.now)::double precision as resets_in_seconds,
    case when memory.budget_day = (clock.now at time zone 'UTC')::date then memory.budget_spent else 0 end as spent,
    case when memory.budget_remaining is null then (
      select count(*) from invocations
      where tool = wanted.tool and coalesce(final_status, 'unfinished') = 'unfinished'
    ) end::integer as in_flight
  from unnest($1::text[]) as wanted (tool)
  left join tool_memory as memory on memory.tool = wanted.tool
  cross join (
    select now, (date_trunc('day', now at time zone 'UTC') + interval '1 day') at time zone 'UTC' as resets_at
    from (select clock_timestamp() as now) as at
  ) as clock`)

type Row = {
  tool: string
  resets_at: Date
  resets_in_seconds: number
  spent: number
  in_flight: number | null
}

/** For whoever holds the locks of these tools, so that nobody accepts a call meanwhile. `limits`: of each its budget. */
export async function readBudgets(
  sql: Sql,
  limits: ReadonlyMap<string, number>,
): Promise<Map<string, Budget>> {
  if (limits.size === 0) return new Map()
  const { rows } = await sql.query<Row>(select([[...limits.keys()]]))
  return new Map(
    rows.map((row) => [
      row.tool,
      {
        limit: limits.get(row.tool) ?? 0,
        spent: row.spent,
        inFlight: row.in_flight,
        resetsAt: row.resets_at,
        resetsInSeconds: Math.max(1, Math.ceil(row.resets_in_seconds)),
      },
    ]),
  )
}
