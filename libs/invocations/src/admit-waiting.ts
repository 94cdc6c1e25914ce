import { transaction } from '@toolyard/db/transaction'
import { admitNext, hasHeld } from './admit.ts'
import type { Deps } from './after-commit.ts'

// index: invocations_delayed. Its job has been lost or is just about to come: from here on it is like any that is held.
const ripen = `
  update invocations set gate = 'held'
  where id = any(array(
    select id from invocations
    where gate = 'delayed' and not_before <= statement_timestamp()
    order by not_before limit 1000
    for update skip locked
  ))`

// index: invocations_held, one look per tool
const findHeld = `
  select name from tools
  where ${hasHeld('tools.name')}
  order by name limit 10000`

/**
 * Admits whatever there is room for: what is due, and what a limit that grew (a new worker, another manifest) lets
 * pass. Answers how many. A worker calls it once when it begins, the scheduler with every turn of the relay.
 */
export async function admitWaiting({ pool, afterCommit }: Deps): Promise<number> {
  await pool.query(ripen)
  const { rows } = await pool.query<{ name: string }>(findHeld)
  let count = 0
  for (const { name } of rows) {
    const jobs = await transaction(pool, (sql) => admitNext(sql, [name]))
    afterCommit.run({ jobs })
    count += jobs.length
  }
  return count
}
