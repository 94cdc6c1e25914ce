import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { Deps, Effects } from './after-commit.ts'
import type { Within } from './close-rows.ts'
import { decideEnd } from './decide-end.ts'
import { endAttempts } from './end-attempts.ts'
import type { Failure } from './invocation.ts'
import { staleGraceSeconds } from './limits.ts'
import type { LockedRow } from './locked-row.ts'
import { lockedColumns, toAttemptFacts } from './locked-row.ts'

// I5: only when the sandbox is dead for certain; limits.ts works out the times.
const isStale = `
  status = 'running' and lease_until < statement_timestamp() - interval '${staleGraceSeconds} seconds'`

// index: invocations_open, which holds no more rows than the tools have slots
const findStale = `select id from invocations where gate = 'open' and ${isStale} order by lease_until limit 500`

// index: invocations_pkey. Judged again under the lock; a row that is just being finished is left alone.
const lockStale = `
  select ${lockedColumns} from invocations where id = $1 and ${isStale} for no key update skip locked`

const lost: Failure = {
  kind: 'sandbox_lost',
  class: 'platform',
  message: 'The worker that ran the call was lost',
}

/** Takes back what workers hold that no longer renew. Answers how many. Each is a transaction of its own. */
export async function requeueStale(
  { pool, afterCommit }: Deps,
  within?: Within,
  random: () => number = Math.random,
): Promise<number> {
  const found = await pool.query<{ id: string }>(findStale)
  let count = 0
  const failures: unknown[] = []
  for (const { id } of found.rows) {
    const taking = transaction(pool, (sql) => takeBack(sql, id, { within, random: random() }))
    // One that fails must not keep the others waiting for ever.
    const effects = await taking.catch((error: unknown) => void failures.push(error))
    if (effects === undefined) continue
    count += 1
    afterCommit.run(effects)
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} rows could not be taken back`)
  return count
}

async function takeBack(
  sql: Sql,
  id: string,
  { within, random }: { within: Within | undefined; random: number },
): Promise<Effects | undefined> {
  const locked = await sql.query<LockedRow>(lockStale, [id])
  const row = locked.rows[0]
  if (row === undefined) return undefined
  const end = decideEnd(toAttemptFacts(row), { kind: 'infrastructure', failure: lost }, random)
  return endAttempts(sql, [{ row, end }], within)
}
