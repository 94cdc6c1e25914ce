import type { Sql } from '@toolyard/db/pool'
import type { Hold, Worker } from './claim.ts'
import { leaseSeconds } from './limits.ts'

export type Renewal = {
  /** Somebody else's by now: kill the sandbox, drop the outcome. */
  lost: string[]
  cancelRequested: string[]
}

// A row that is locked is just being finished or cancelled. Waiting for it would hold up the renewal of all others;
// it is renewed with the next turn, of which there are five within a lease. `any(array[…])`: as in close-rows.
const renew = `
  with held as materialized (
    select id, token from unnest($1::text[], $2::uuid[]) as hold (id, token)
  ),
  free as materialized (
    select one.id from held
    join invocations as one on one.id = any(array[held.id]) and one.attempt_token = held.token
    where one.status = 'running'
    for no key update of one skip locked
  ),
  renewed as (
    update invocations set lease_until = clock_timestamp() + interval '${leaseSeconds} seconds'
    from free where invocations.id = any(array[free.id])
  ),
  seen as (
    insert into workers (id, engine_id, slots, seen_at) values ($3, $4, $5, clock_timestamp())
    on conflict (id) do update
    set engine_id = excluded.engine_id, slots = excluded.slots, seen_at = excluded.seen_at
  )
  select held.id, one.id is null as is_lost
  from held
  left join invocations as one
    on one.id = any(array[held.id]) and one.attempt_token = held.token and one.status = 'running'
  where one.id is null or one.cancel_requested_at is not null`

/**
 * One statement for all that a worker holds, every 5 s, also while it holds nothing: its slots count for the limits of
 * tools. The worker counts its 25 s from before it called this (see limits.ts).
 */
export async function renewLeases(
  sql: Sql,
  worker: Worker & { slots: number },
  holds: readonly Hold[],
): Promise<Renewal> {
  const found = await sql.query<{ id: string; is_lost: boolean }>(renew, [
    holds.map(({ id }) => id),
    holds.map(({ token }) => token),
    worker.workerId,
    worker.engineId,
    worker.slots,
  ])
  return {
    lost: found.rows.filter((row) => row.is_lost).map((row) => row.id),
    cancelRequested: found.rows.filter((row) => !row.is_lost).map((row) => row.id),
  }
}
