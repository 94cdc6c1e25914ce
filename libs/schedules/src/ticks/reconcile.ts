import { inBatches } from '@toolyard/db/in-batches'
import { syncSchedules } from '../schedules/sync-schedules.ts'
import { cancelOvertaken } from './cancel-overtaken.ts'
import { fireAllDue } from './fire-all-due.ts'
import type { ScheduleDeps } from './fire-due.ts'
import { fireDue } from './fire-due.ts'
import type { Tick } from './tick.ts'

// A run that was ended by whoever did not know of ticks: a hand in the database.
// indexes: ticks_open, invocations_pkey
const endForgotten = `
  update ticks set ended_at = clock_timestamp(), status = coalesce(forgotten.final_status, 'lost')
  from (
    select open.tool, open.tick_at, one.final_status
    from ticks as open left join invocations as one on one.id = open.invocation_id
    where open.ended_at is null and open.fate = 'fired' and (one.id is null or one.gate = 'closed')
    limit $1
  ) as forgotten
  where ticks.tool = forgotten.tool and ticks.tick_at = forgotten.tick_at and ticks.ended_at is null`

const forgottenMax = 500

/**
 * Whatever there is to do of schedules, alarms or no: new and changed tools, ticks that are due, ticks that wait, runs
 * that are to give way. At the start, every minute, and after every outage.
 */
export async function reconcile(deps: ScheduleDeps, now: Date): Promise<Tick[]> {
  await inBatches(forgottenMax, async (max) => (await deps.pool.query(endForgotten, [max])).rowCount ?? 0)
  const stale = await syncSchedules(deps.pool, now)
  const works = [
    () => fireDue(deps, stale, now, 'skip'),
    () => fireAllDue(deps, now),
    () => cancelOvertaken(deps).then(() => []),
  ]
  let ticks: Tick[] = []
  const failures: unknown[] = []
  for (const work of works) {
    // What fails of one must not keep the others waiting.
    const written = await work().catch((error: unknown) => void failures.push(error))
    ticks = ticks.concat(written ?? [])
  }
  if (failures.length > 0) throw new AggregateError(failures, 'schedules could not be brought up to date')
  return ticks
}
