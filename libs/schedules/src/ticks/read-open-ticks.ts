import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { OpenTicks } from './decide-ticks.ts'
import { noOpenTicks } from './decide-ticks.ts'
import type { Origin } from './tick.ts'

// indexes: ticks_open, invocations_pkey. A run is over when its invocation is, whatever the row of its tick says.
const select = prepared(`
  select ticks.tool, ticks.tick_at, ticks.origin, ticks.fate
  from ticks
  where ticks.tool = any($1) and ticks.ended_at is null
    and (ticks.fate = 'buffered'
      or exists (select from invocations where id = ticks.invocation_id and gate <> 'closed'))
  order by ticks.tool, ticks.tick_at`)

// index: ticks_pkey
const selectKnown = prepared(`
  select ticks.tool, ticks.tick_at from unnest($1::text[], $2::timestamptz[]) as due (tool, tick_at)
  join ticks using (tool, tick_at)`)

type Row = { tool: string; tick_at: Date; origin: Origin; fate: 'fired' | 'buffered' }

/** Under the locks of their schedules. */
export async function readOpenTicks(
  sql: Sql,
  tools: readonly string[],
): Promise<(tool: string) => OpenTicks> {
  const { rows } = await sql.query<Row>(select([tools]))
  const byTool = Map.groupBy(rows, ({ tool }) => tool)
  return (tool) => {
    const open = byTool.get(tool)
    if (open === undefined) return noOpenTicks
    const buffered = open.filter(({ fate }) => fate === 'buffered')
    return {
      runningCount: open.length - buffered.length,
      buffered: buffered.map(({ tick_at: tickAt, origin }) => ({ tickAt, origin })),
    }
  }
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
