import assert from 'node:assert/strict'
import type { Json } from '@toolyard/contract/parameters'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { Failure, FinalStatus, InvocationResult } from './invocation.ts'
import type { LockedRow } from './locked-row.ts'

export type Closing = {
  row: LockedRow
  status: FinalStatus
  result: InvocationResult | null
  failure: Failure | null
  reward: number | null
  /** What the tool said remains of its budget, however the call ended. */
  budgetRemaining: number | null
}

/** What others write in the transaction that closes an invocation: memory, deliveries, prompts. */
export type ClosedInvocation = {
  id: string
  tool: string
  topic: string
  keyId: string | null
  status: FinalStatus
  /** Null: this outcome counts for nothing. */
  reward: number | null
  result: InvocationResult | null
  failure: Failure | null
  budgetRemaining: number | null
  hash: string
  attempts: number
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date
  callbackUrl: string | null
  searchId: string | null
  metadata: Json
}

/** Called before the commit; what it throws rolls everything back. It must not take locks of tools or invocations. */
export type Within = (sql: Sql, closed: readonly ClosedInvocation[]) => Promise<void>

// I1, I3: a row is closed once: its gate never opens again, and the primary key of its outcome is there once.
// I2: the token is still the one that was locked.
const close = prepared(`
  with closing as materialized (
    select * from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::double precision[])
      as closing (id, token, status, result, failure, reward)
  ),
  closed as (
    update invocations as one
    set status = closing.status, final_status = closing.status, gate = 'closed', reward = closing.reward,
      finished_at = clock_timestamp(), lease_until = null
    from closing
    where one.id = closing.id and one.final_status is null and one.attempt_token is not distinct from closing.token
    returning one.id, one.topic, one.key_id, one.attempts, one.created_at, one.started_at, one.finished_at,
      one.search_id, coalesce(one.ran_hash, one.pinned_hash, one.submitted_hash) as hash
  ),
  outcomes as (
    insert into invocation_outcomes (id, result, failure)
    select closing.id, closing.result::json, closing.failure::json
    from closing join closed on closed.id = closing.id
  ),
  ended as (
    update attempts set ended_at = clock_timestamp(), end_reason = closing.status
    from closing join closed on closed.id = closing.id
    where attempts.invocation_id = closed.id and attempts.attempt = closed.attempts and attempts.ended_at is null
  )
  select closed.*, input.callback_url, input.metadata
  from closed join invocation_inputs as input on input.id = closed.id`)

type Row = {
  id: string
  topic: string
  key_id: string | null
  attempts: number
  created_at: Date
  started_at: Date | null
  finished_at: Date
  search_id: string | null
  hash: string
  callback_url: string | null
  metadata: Json
}

/** Closes rows that this transaction has locked, with all that belongs to their end. */
export async function closeRows(
  sql: Sql,
  closings: readonly Closing[],
  within: Within | undefined,
): Promise<void> {
  if (closings.length === 0) return
  const found = await sql.query<Row>(
    close([
      closings.map(({ row }) => row.id),
      closings.map(({ row }) => row.attempt_token),
      closings.map(({ status }) => status),
      closings.map(({ result }) => (result === null ? null : JSON.stringify(result))),
      closings.map(({ failure }) => (failure === null ? null : JSON.stringify(failure))),
      closings.map(({ reward }) => reward),
    ]),
  )
  assert.equal(found.rowCount, closings.length, 'a row was changed although it was locked')
  if (within === undefined) return
  const written = new Map(found.rows.map((row) => [row.id, row]))
  await within(
    sql,
    closings.flatMap((closing) => toClosed(closing, written.get(closing.row.id))),
  )
}

function toClosed(closing: Closing, written: Row | undefined) {
  if (written === undefined) return []
  const { row, status, result, failure, reward, budgetRemaining } = closing
  const closed: ClosedInvocation = {
    id: row.id,
    tool: row.tool,
    topic: written.topic,
    keyId: written.key_id,
    status,
    reward,
    result,
    failure,
    budgetRemaining,
    hash: written.hash,
    attempts: written.attempts,
    createdAt: written.created_at,
    startedAt: written.started_at,
    finishedAt: written.finished_at,
    callbackUrl: written.callback_url,
    searchId: written.search_id,
    metadata: written.metadata,
  }
  return [closed]
}
