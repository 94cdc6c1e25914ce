import type { ScheduleDeps } from './fire-due.ts'
import { fireDue } from './fire-due.ts'
import type { Tick } from './tick.ts'

// indexes: schedules_due, ticks_open
const selectDue = `
  select tool from (
    select tool from schedules where next_tick_at <= $1
    union
    select tool from ticks where fate = 'buffered' and ended_at is null
  ) as wanted
  where tool > $2
  order by tool limit 1000`

/**
 * As `fireDue` for all schedules of which a tick is due or waits. What another process has in hand is left to it. A look
 * that finds nothing costs one statement.
 */
export async function fireAllDue(deps: ScheduleDeps, now: Date): Promise<Tick[]> {
  let ticks: Tick[] = []
  const failures: unknown[] = []
  for (let after = ''; ;) {
    const { rows } = await deps.pool.query<{ tool: string }>(selectDue, [now, after])
    const last = rows.at(-1)
    if (last === undefined) break
    const tools = rows.map(({ tool }) => tool)
    // What fails of some must not keep the others waiting.
    const fired = await fireDue(deps, tools, now, 'skip').catch((error: unknown) => void failures.push(error))
    ticks = ticks.concat(fired ?? [])
    after = last.tool
  }
  if (failures.length > 0) throw new AggregateError(failures, 'some schedules could not be fired')
  return ticks
}
