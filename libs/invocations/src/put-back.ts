import assert from 'node:assert/strict'
import type { Sql } from '@toolyard/db/pool'
import type { ReadyJob } from './after-commit.ts'
import type { LockedRow } from './locked-row.ts'

export type PutBack = { delayMs: number; fault: 'tool' | 'infrastructure' | 'none' }

// Its time to live counts from when it may start again. It gives its slot away while it waits, and without a token
// nobody can write an outcome of the attempt that was (I2). `any(array[…])`: as in close-rows.
const putRowBack = `
  with back as (
    update invocations
    set status = 'queued', gate = case when $3::double precision > 0 then 'delayed' else 'held' end,
      attempt_token = null, lease_until = null,
      not_before = statement_timestamp() + $3::double precision * interval '1 ms',
      expires_at = statement_timestamp() + $3::double precision * interval '1 ms' + (expires_at - not_before),
      tool_failures = tool_failures + case $4::text when 'tool' then 1 else 0 end,
      infra_failures = infra_failures + case $4::text when 'infrastructure' then 1 else 0 end
    where id = $1 and attempt_token = $2 and status = 'running'
    returning id, attempts
  ),
  ended as (
    update attempts set ended_at = clock_timestamp(),
      end_reason = case $4::text when 'tool' then 'tool failed' when 'infrastructure' then 'lost' else 'handed back' end
    from back
    where attempts.invocation_id = any(array[back.id]) and attempts.attempt = back.attempts and attempts.ended_at is null
  )
  select 1 from back`

/** Puts a running row that this transaction has locked back in line, and gives the job that wakes it, where it has to wait. */
export async function putBack(sql: Sql, row: LockedRow, { delayMs, fault }: PutBack): Promise<ReadyJob[]> {
  const put = await sql.query(putRowBack, [row.id, row.attempt_token, delayMs, fault])
  assert.equal(put.rowCount, 1, 'a row was changed although it was locked')
  if (delayMs === 0) return []
  return [{ id: row.id, attempt: row.attempts + 1, priority: row.priority, delayMs }]
}
