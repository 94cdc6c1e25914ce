import { isUnavailable } from '@toolyard/db/is-unavailable'
import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { Deps } from '@toolyard/invocations/after-commit'
import type { Within } from '@toolyard/invocations/close-rows'
import type { QueueDepth } from '@toolyard/invocations/queue-depth'
import { createQueueDepth } from '@toolyard/invocations/queue-depth'
import { lockSchedules } from '../schedules/lock-schedules.ts'
import { cancelOvertaken } from './cancel-overtaken.ts'
import type { Settled } from './settle.ts'
import { settle } from './settle.ts'
import type { Tick } from './tick.ts'

/** What every verb that starts runs needs; one per process. `within`: what else is written when runs are cancelled. */
export type ScheduleDeps = Deps & { pool: Pool; depth: QueueDepth; within: Within | undefined }

export function createScheduleDeps({ pool, afterCommit, within }: Omit<ScheduleDeps, 'depth'>): ScheduleDeps {
  return { pool, afterCommit, within, depth: createQueueDepth(pool) }
}

const batchMax = 100
// A turn settles a thousand ticks of a batch; what is left after so many waits for the next call.
const turnsMax = 50

/**
 * Does for these tools whatever their schedules want done at `now`: an alarm says no more than that it is worth looking.
 * Early, late, twice or never, alarms come to the same, because ticks are worked out from the last one that was settled,
 * and written with their invocations in one transaction under the lock of the schedule.
 */
export async function fireDue(
  deps: ScheduleDeps,
  tools: readonly string[],
  now: Date,
  held: 'wait' | 'skip' = 'wait',
): Promise<Tick[]> {
  const sorted = [...new Set(tools)].toSorted((a, b) => (a < b ? -1 : 1))
  const ticks: Tick[] = []
  const failures: unknown[] = []
  for (let at = 0; at < sorted.length; at += batchMax) {
    const batch = sorted.slice(at, at + batchMax)
    const fire = (some: readonly string[]) => fireBatch(deps, some, now, { held, ticks })
    if (batch.length === 1) {
      await fire(batch)
      continue
    }
    // What cannot be written may be of one tool: the others are fired without it.
    await fire(batch).catch(async (error: unknown) => {
      if (isUnavailable(error)) throw error
      for (const tool of batch) await fire([tool]).catch((fault: unknown) => void failures.push(fault))
    })
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} schedules could not be fired`)
  return ticks
}

async function fireBatch(
  deps: ScheduleDeps,
  tools: readonly string[],
  now: Date,
  { held, ticks }: { held: 'wait' | 'skip'; ticks: Tick[] },
): Promise<void> {
  let left = tools
  for (let turn = 0; turn < turnsMax && left.length > 0; turn++) {
    await deps.depth.refresh()
    const settled = await transaction(
      deps.pool,
      async (sql) => settle(sql, deps.depth, await lockSchedules(sql, left, held), now),
      { opensHarmlessly: true },
    )
    announce(deps, settled)
    ticks.push(...settled.ticks)
    if (settled.cancelling.length > 0) await cancelOvertaken(deps, settled.cancelling)
    left = settled.again
  }
}

/** What is told of a settlement that has been committed. */
export function announce(
  { afterCommit, depth }: ScheduleDeps,
  { jobs, ticks }: Pick<Settled, 'jobs' | 'ticks'>,
): void {
  for (const { tool, fate } of ticks) if (fate === 'fired') depth.add(tool)
  afterCommit.run({ jobs })
}
