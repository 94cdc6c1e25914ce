import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { OpenTicks } from './decide-ticks.ts'

// indexes: ticks_open, invocations_pkey. A run is over when its invocation is, whatever the row of its tick says.
const countRunning = prepared(`
  select tool, count(*)::integer as running, count(*) filter (where origin = 'backfill')::integer as backfill
  from ticks
  where tool = any($1) and fate = 'fired' and ended_at is null
    and exists (select from invocations where id = ticks.invocation_id and gate <> 'closed')
  group by tool`)

// index: ticks_waiting
const selectWaiting = prepared(`
  select waiting.* from unnest($1::text[]) as wanted (tool)
  cross join lateral (
    select tool, tick_at as "tickAt", origin from ticks
    where ticks.tool = wanted.tool and fate = 'buffered' and ended_at is null
    order by origin = 'backfill', tick_at limit $2
  ) as waiting`)

// index: ticks_pkey
const selectKnown = prepared(`
  select ticks.tool, ticks.tick_at from unnest($1::text[], $2::timestamptz[]) as due (tool, tick_at)
  join ticks using (tool, tick_at)`)

/** Under the locks of their schedules; of what waits the first `waitingMax` of each. */
export async function readOpenTicks(
  sql: Sql,
  tools: readonly string[],
  waitingMax: number,
): Promise<(tool: string) => OpenTicks> {
  type Running = { tool: string; running: number; backfill: number }
  const [counted, waiting] = await Promise.all([
    sql.query<Running>(countRunning([tools])),
    sql.query<OpenTicks['buffered'][number] & { tool: string }>(selectWaiting([tools, waitingMax])),
  ])
  const runningOf = new Map(counted.rows.map((row) => [row.tool, row]))
  const waitingOf = Map.groupBy(waiting.rows, ({ tool }) => tool)
  return (tool) => ({
    runningCount: runningOf.get(tool)?.running ?? 0,
    backfillCount: runningOf.get(tool)?.backfill ?? 0,
    buffered: waitingOf.get(tool) ?? [],
  })
}

/** Which of these ticks have a row already. */
export async function readKnownTicks(
  sql: Sql,
  due: readonly { tool: string; tickAt: Date }[],
): Promise<(tool: string) => ReadonlySet<number>> {
  if (due.length === 0) return () => new Set()
  const { rows } = await sql.query<{ tool: string; tick_at: Date }>(
    selectKnown([due.map(({ tool }) => tool), due.map(({ tickAt }) => tickAt.toISOString())]),
  )
  const byTool = Map.groupBy(rows, ({ tool }) => tool)
  return (tool) => new Set((byTool.get(tool) ?? []).map(({ tick_at: tickAt }) => tickAt.getTime()))
}
