import { inBatches } from '@toolyard/db/in-batches'
import type { Pool } from '@toolyard/db/pool'

// The table is walked: keys are few, and made by hand. One that has ended holds nowhere and never again, so no process
// has to hear that it is gone. A webhook keeps its owner, who tells for whom it was.
const drop = `
  with old as materialized (
    select id from api_keys
    where least(revoked_at, expires_at) < statement_timestamp() - make_interval(days => $1)
      and not exists (select from webhooks where webhooks.key_id = api_keys.id)
    limit $2
    for update skip locked
  ),
  secrets as (delete from callback_secrets where key_id = any(array(select id from old)))
  delete from api_keys where id = any(array(select id from old))`

const rowsMax = 500

/** Drops keys that were revoked or expired so many days ago. Answers how many. */
export async function pruneKeys(pool: Pool, keptDays: number): Promise<number> {
  return inBatches(rowsMax, async (max) => (await pool.query(drop, [keptDays, max])).rowCount ?? 0)
}
