import { newPrefixedId } from '@toolyard/contract/ids'
import type { Pool } from '@toolyard/db/pool'

const keptDays = 30
const batchMax = 1_000
const batchesMax = 100

const findBound = `
  select (extract(epoch from clock_timestamp() - interval '${keptDays} days') * 1000)::double precision as bound_ms`

// index: deliveries_pkey, from the oldest: what was made after the bound cannot be old enough. Their tries go with them.
const prune = `
  with old as materialized (
    select id from deliveries
    where id < $1 and ended_at < statement_timestamp() - interval '${keptDays} days'
    order by id limit $2
    for update skip locked
  ),
  made as (delete from delivery_tries where delivery_id = any(array(select id from old)))
  delete from deliveries where id = any(array(select id from old))`

/** In small statements, so that no lock lasts. */
export async function pruneDeliveries(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bound_ms: number }>(findBound)
  const bound = newPrefixedId('msg', Math.floor(rows[0]?.bound_ms ?? 0))
  let count = 0
  for (let batch = 0; batch < batchesMax; batch++) {
    const { rowCount } = await pool.query(prune, [bound, batchMax])
    count += rowCount ?? 0
    if ((rowCount ?? 0) < batchMax) break
  }
  return count
}
