import { newId } from '@toolyard/contract/ids'
import { daysAgoMs } from '@toolyard/db/days-ago-ms'
import { inBatches } from '@toolyard/db/in-batches'
import type { Pool } from '@toolyard/db/pool'

// index: audit_pkey. Ids are given by the clocks of the processes, so the time is looked at too.
const drop = `
  delete from audit where id = any(array(
    select id from audit
    where id < $1 and at < statement_timestamp() - make_interval(days => $2)
    order by id limit $3
    for update skip locked
  ))`

const rowsMax = 500

/** Drops what was noted so many days ago, in small transactions, so that no lock lasts. Answers how many. */
export async function pruneAudit(pool: Pool, keptDays: number): Promise<number> {
  const bound = newId(await daysAgoMs(pool, keptDays))
  return inBatches(rowsMax, async (max) => (await pool.query(drop, [bound, keptDays, max])).rowCount ?? 0)
}
