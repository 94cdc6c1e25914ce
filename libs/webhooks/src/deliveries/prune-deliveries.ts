import { newPrefixedId } from '@toolyard/contract/ids'
import { daysAgoMs } from '@toolyard/db/days-ago-ms'
import { inBatches } from '@toolyard/db/in-batches'
import type { Pool } from '@toolyard/db/pool'

// index: deliveries_pkey, from where the last batch ended: what was made after the bound cannot be old enough. Their
// tries go with them.
const drop = `
  with old as materialized (
    select id from deliveries
    where id > $1 and id < $2 and ended_at < statement_timestamp() - make_interval(days => $3)
    order by id limit $4
    for update skip locked
  ),
  made as (delete from delivery_tries where delivery_id = any(array(select id from old))),
  dropped as (delete from deliveries where id = any(array(select id from old)) returning id)
  select count(*)::integer as count, max(id) as last from dropped`

const rowsMax = 500

/** Drops what ended so many days ago, in small transactions, so that no lock lasts. Answers how many. */
export async function pruneDeliveries(pool: Pool, keptDays: number): Promise<number> {
  const bound = newPrefixedId('msg', await daysAgoMs(pool, keptDays))
  let after = ''
  return inBatches(rowsMax, async (max) => {
    const values = [after, bound, keptDays, max]
    const { rows } = await pool.query<{ count: number; last: string | null }>(drop, values)
    after = rows[0]?.last ?? after
    return rows[0]?.count ?? 0
  })
}
