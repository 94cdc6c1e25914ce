import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import type { BullBoardQueues } from '@bull-board/api/typings/app'
import type { Pool } from '@toolyard/db/pool'
import type { QueueName } from '@toolyard/queue/names'
import { imagesQueue } from '@toolyard/queue/names'
import type { Queues } from '@toolyard/queue/queues'

export type ShownQueues = { readOnly: BullBoardQueues; writable: BullBoardQueues }

const sharedQueues = ['invocations', 'deliveries', 'ticks'] as const
const refreshMs = 5_000

// The table has a row for each version of a tool on each engine: small, and read at most every few seconds.
const selectEngines = 'select distinct engine_id from images order by engine_id limit 100'

/** The queues that all share, and one for the images of each engine that was ever seen. */
export async function listQueueNames(pool: Pool): Promise<QueueName[]> {
  const { rows } = await pool.query<{ engine_id: string }>(selectEngines)
  // Two ids may come to one name.
  return [...sharedQueues, ...new Set(rows.map((row) => imagesQueue(row.engine_id)))]
}

export type BoardQueuesDeps = {
  pool: Pool
  queues: Pick<Queues, 'boardQueues'>
  monotonicMs?: () => number
}

/** What Bull Board is given: BullMQ's own objects, in its adapters, once to look at and once to act on. */
export function createBoardQueues(deps: BoardQueuesDeps): () => Promise<ShownQueues> {
  const { pool, queues, monotonicMs = () => performance.now() } = deps
  const shown: ShownQueues = { readOnly: new Map(), writable: new Map() }
  let refreshedAtMs = Number.NEGATIVE_INFINITY
  return async () => {
    if (monotonicMs() - refreshedAtMs < refreshMs) return shown
    const names = await listQueueNames(pool)
    const missing = names.filter((name) => !shown.readOnly.has(name))
    for (const queue of await queues.boardQueues(missing)) {
      shown.readOnly.set(queue.name, new BullMQAdapter(queue, { readOnlyMode: true }))
      shown.writable.set(queue.name, new BullMQAdapter(queue))
    }
    refreshedAtMs = monotonicMs()
    return shown
  }
}
