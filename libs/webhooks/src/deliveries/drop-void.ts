import type { Pool } from '@toolyard/db/pool'
import { dependencies, isVoid } from './is-void.ts'

// index: deliveries_waiting
const drop = `
  update deliveries set status = 'dropped', ended_at = clock_timestamp()
  where id = any(array(
    select one.id from deliveries as one ${dependencies}
    where one.receiver = $1 and one.status = 'waiting' and ${isVoid}
    limit $2
    for update of one skip locked))`

const batchMax = 1_000
const batchesMax = 10

/**
 * Marks what waits for this receiver and is to be told no more. In small statements of their own: what was meant for a
 * webhook may be much, and its disabling must not wait for that. What is left, the relay drops.
 */
export async function dropVoid(pool: Pool, receiver: string): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const { rowCount } = await pool.query(drop, [receiver, batchMax])
    if ((rowCount ?? 0) < batchMax) return
  }
}
