import assert from 'node:assert/strict'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { NewJob } from '@toolyard/queue/stored-job'
import type { FinalStatus } from '@toolyard/contract/invocations'
import type { Failure, InvocationResult, ToolNotes } from './invocation.ts'
import type { LockedRow } from './locked-row.ts'

export type Closing = {
  row: LockedRow
  status: FinalStatus
  result: InvocationResult | null
  failure: Failure | null
  reward: number | null
  /** What the tool said remains of its budget, however the call ended. */
  budgetRemaining: number | null
  /** Kept by nobody but those who write within. */
  notes?: ToolNotes
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
  notes?: ToolNotes
  hash: string
  attempts: number
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date
  searchId: string | null
}

/**
 * Called before the commit, when the statement that closes the rows is on its way; what it throws rolls everything back.
 * It must not take locks of tools or invocations.
 */
export type Within = (sql: Sql, closed: readonly ClosedInvocation[]) => Promise<Told | void>

/** For the queues, once it is committed: messages that tell of these ends, schedules that waited for them. */
export type Told = { deliveries?: readonly NewJob<'deliveries'>[]; ticks?: readonly NewJob<'ticks'>[] }

// I1, I3: a row is closed once: its gate never opens again, and the primary key of its outcome is there once.
// I2: the token is still the one that was locked.
// Large tables are looked into by `any(array[…])`: for a plain `=` the planner thinks of a merge join, and looks up the
// first row of each behind all that retention has dropped and no vacuum has cleared yet: 2 ms each time.
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
    where one.id = any(array[closing.id]) and one.final_status is null and one.attempt_token is not distinct from closing.token
    returning one.id, one.attempts
  ),
  outcomes as (
    insert into invocation_outcomes (id, result, failure)
    select closing.id, closing.result::json, closing.failure::json
    from closing join closed on closed.id = closing.id
  ),
  ended as (
    update attempts set ended_at = clock_timestamp(), end_reason = closing.status
    from closing join closed on closed.id = closing.id
    where attempts.invocation_id = any(array[closed.id]) and attempts.attempt = closed.attempts and attempts.ended_at is null
  )
  select id from closed`)

/** Closes rows that this transaction has locked, with all that belongs to their end. */
export async function closeRows(
  sql: Sql,
  closings: readonly Closing[],
  within: Within | undefined,
): Promise<Told> {
  if (closings.length === 0) return {}
  const closed = sql.query(
    close([
      closings.map(({ row }) => row.id),
      closings.map(({ row }) => row.attempt_token),
      closings.map(({ status }) => status),
      closings.map(({ result }) => (result === null ? null : JSON.stringify(result))),
      closings.map(({ failure }) => (failure === null ? null : JSON.stringify(failure))),
      closings.map(({ reward }) => reward),
    ]),
  )
  const [{ rowCount }, told] = await Promise.all([closed, within?.(sql, closings.map(toClosed))])
  assert.equal(rowCount, closings.length, 'a row was changed although it was locked')
  return told ?? {}
}

function toClosed({ row, ...closing }: Closing): ClosedInvocation {
  return {
    id: row.id,
    tool: row.tool,
    topic: row.topic,
    keyId: row.key_id,
    ...closing,
    hash: row.hash,
    attempts: row.attempts,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.locked_at,
    searchId: row.search_id,
  }
}
