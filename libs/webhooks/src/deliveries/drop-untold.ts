import type { Pool } from '@toolyard/db/pool'

const drop = `
  update deliveries set status = 'dropped', ended_at = clock_timestamp() where id = $1 and status = 'waiting'`

/** Of which there is nothing to tell any more: the invocation is kept no longer than its time. */
export async function dropUntold(pool: Pool, id: string): Promise<void> {
  await pool.query(drop, [id])
}
