import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { admitNext } from './admit.ts'
import type { Deps, Effects } from './after-commit.ts'
import type { Within } from './close-rows.ts'
import { closeRows } from './close-rows.ts'
import type { Failure } from './invocation.ts'
import type { LockedRow } from './locked-row.ts'
import { lockedColumns } from './locked-row.ts'

// The statement's time, because a clock that may move while it runs cannot be looked up in an index.
const isExpired = `status = 'queued' and expires_at <= statement_timestamp()`

// index: invocations_waiting
const findExpired = `
  select id from invocations
  where finished_at is null and ${isExpired} and id <> all($2::text[]) order by expires_at limit $1`

// index: invocations_pkey
const lockExpired = `
  select ${lockedColumns} from invocations where id = any($1) and ${isExpired} for no key update skip locked`

const failure: Failure = {
  kind: 'expired',
  class: 'platform',
  message: 'The invocation did not get to run within its time to live',
}

const batchMax = 200
const batchesMax = 50
// So many at once is no fault of single rows.
const stuckMax = 200

/** Closes what did not get to run within its time to live. Answers how many. */
export async function expire({ pool, afterCommit }: Deps, within?: Within): Promise<number> {
  let count = 0
  const stuck = new Map<string, unknown>()
  async function closeIds(ids: readonly string[]): Promise<void> {
    const effects = await transaction(pool, (sql) => closeExpired(sql, ids, within))
    count += effects.finished?.length ?? 0
    afterCommit.run(effects)
  }
  // If one of them cannot be closed, the others can.
  async function closeEach(ids: readonly string[]): Promise<void> {
    for (const id of ids) await closeIds([id]).catch((error: unknown) => stuck.set(id, error))
  }
  for (let batch = 0; batch < batchesMax && stuck.size < stuckMax; batch++) {
    const { rows } = await pool.query<{ id: string }>(findExpired, [batchMax, [...stuck.keys()]])
    if (rows.length === 0) break
    const ids = rows.map(({ id }) => id)
    await closeIds(ids).catch(() => closeEach(ids))
  }
  if (stuck.size > 0) throw new AggregateError(stuck.values(), `${stuck.size} rows could not be closed`)
  return count
}

async function closeExpired(sql: Sql, ids: readonly string[], within: Within | undefined): Promise<Effects> {
  const { rows } = await sql.query<LockedRow>(lockExpired, [ids])
  const closings = rows.map((row) => ({
    row,
    status: 'expired' as const,
    result: null,
    failure,
    reward: null,
    budgetRemaining: null,
  }))
  const told = await closeRows(sql, closings, within)
  const freed = rows.filter((row) => row.gate === 'open').map((row) => row.tool)
  return { ...told, finished: rows.map((row) => row.id), jobs: await admitNext(sql, freed) }
}
