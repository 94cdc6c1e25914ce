import { newPrefixedId } from '@toolyard/contract/ids'
import type { Pool } from '@toolyard/db/pool'
import { keptDays, rawsKeptDays } from './limits.ts'

export type Pruned = { invocations: number; raws: number; keys: number }

// index: invocations_pkey, from the oldest: what was made after the bound cannot be old enough.
const dropInvocations = `
  with old as materialized (
    select id from invocations
    where id < $1 and gate = 'closed' and finished_at < statement_timestamp() - interval '${keptDays} days'
    order by id limit $2
    for update skip locked
  ),
  inputs as (delete from invocation_inputs where id = any(array(select id from old))),
  outcomes as (delete from invocation_outcomes where id = any(array(select id from old))),
  raws as (delete from invocation_raws where id = any(array(select id from old))),
  tries as (delete from attempts where invocation_id = any(array(select id from old)))
  delete from invocations where id = any(array(select id from old))`

// index: invocation_raws_by_age
const dropRaws = `
  delete from invocation_raws where id = any(array(
    select id from invocation_raws
    where stored_at < statement_timestamp() - interval '${rawsKeptDays} days'
    order by stored_at limit $1
  ))`

// index: idempotency_by_age
const dropKeys = `
  delete from idempotency where (key_id, key) in (
    select key_id, key from idempotency where expires_at < statement_timestamp() order by expires_at limit $1
  ) and expires_at < statement_timestamp()`

const dropWorkers = `delete from workers where seen_at < clock_timestamp() - interval '1 day'`

const batchMax = 1_000
const batchesMax = 100

/** Drops what is kept no longer, in small transactions. */
export async function prune(pool: Pool): Promise<Pruned> {
  const clock = await pool.query<{ bound_ms: string }>(
    `select extract(epoch from clock_timestamp() - interval '${keptDays} days') * 1000 as bound_ms`,
  )
  const bound = newPrefixedId('inv', Math.floor(Number(clock.rows[0]?.bound_ms)))
  await pool.query(dropWorkers)
  return {
    invocations: await inBatches(pool, dropInvocations, [bound, batchMax]),
    raws: await inBatches(pool, dropRaws, [batchMax]),
    keys: await inBatches(pool, dropKeys, [batchMax]),
  }
}

async function inBatches(pool: Pool, statement: string, values: unknown[]): Promise<number> {
  let dropped = 0
  for (let batch = 0; batch < batchesMax; batch++) {
    const { rowCount } = await pool.query(statement, values)
    dropped += rowCount ?? 0
    if ((rowCount ?? 0) < batchMax) break
  }
  return dropped
}
