import { newPrefixedId } from '@toolyard/contract/ids'
import { daysAgoMs } from '@toolyard/db/days-ago-ms'
import { inBatches } from '@toolyard/db/in-batches'
import type { Pool } from '@toolyard/db/pool'

/** In days: of what has ended, and of what tools wrote. */
export type InvocationRetention = { invocationDays: number; rawDays: number }
export type Pruned = { invocations: number; raws: number; keys: number }

// index: invocations_pkey, from where the last batch ended: what was made after the bound cannot be old enough. Those
// that it passes over are few, since what has not ended, or waited for long, is bounded by what may wait.
// Idempotency keys need no place here: they are kept for a day, and what they name for one at least.
const dropInvocations = `
  with old as materialized (
    select id from invocations
    where id > $1 and id < $2 and gate = 'closed'
      and finished_at < statement_timestamp() - make_interval(days => $3)
    order by id limit $4
    for update skip locked
  ),
  inputs as (delete from invocation_inputs where id = any(array(select id from old))),
  outcomes as (delete from invocation_outcomes where id = any(array(select id from old))),
  raws as (delete from invocation_raws where id = any(array(select id from old))),
  tries as (delete from attempts where invocation_id = any(array(select id from old))),
  dropped as (delete from invocations where id = any(array(select id from old)) returning id)
  select count(*)::integer as count, max(id) as last from dropped`

// index: invocation_raws_by_age. One that a later attempt is just replacing is locked, and is no longer old.
const dropRaws = `
  delete from invocation_raws where id = any(array(
    select id from invocation_raws
    where stored_at < statement_timestamp() - make_interval(days => $1)
    order by stored_at limit $2
    for update skip locked
  ))`

// index: idempotency_by_age. One that is just used anew is locked, and is no longer old.
const dropKeys = `
  delete from idempotency where (key_id, key) in (
    select key_id, key from idempotency where expires_at < statement_timestamp()
    order by expires_at limit $1
    for update skip locked
  )`

const dropWorkers = `delete from workers where seen_at < clock_timestamp() - interval '1 day'`

// What each may have written is of up to some megabytes, and is deleted by the page.
const invocationsMax = 200
const rawsMax = 100
const keysMax = 1_000

/** Drops what is kept no longer, in small transactions, so that no lock lasts. */
export async function prune(pool: Pool, { invocationDays, rawDays }: InvocationRetention): Promise<Pruned> {
  const bound = newPrefixedId('inv', await daysAgoMs(pool, invocationDays))
  await pool.query(dropWorkers)
  let after = ''
  const invocations = await inBatches(invocationsMax, async (max) => {
    const values = [after, bound, invocationDays, max]
    const { rows } = await pool.query<{ count: number; last: string | null }>(dropInvocations, values)
    after = rows[0]?.last ?? after
    return rows[0]?.count ?? 0
  })
  return {
    invocations,
    raws: await inBatches(rawsMax, (max) => countDropped(pool, dropRaws, [rawDays, max])),
    keys: await inBatches(keysMax, (max) => countDropped(pool, dropKeys, [max])),
  }
}

async function countDropped(pool: Pool, statement: string, values: unknown[]): Promise<number> {
  const { rowCount } = await pool.query(statement, values)
  return rowCount ?? 0
}
