import type { Sql } from '@toolyard/db/pool'
import type { Worker } from './claim.ts'

/** `againMs`: when the job should come back. Without it the job is done with: somebody else brings the row back. */
export type NoClaim =
  | { kind: 'not_claimable'; reason: 'gone' | 'not_queued' | 'other_attempt' | 'expired' }
  | { kind: 'waiting'; reason: 'delayed' | 'tools_disabled' | 'image building'; againMs: number }
  | { kind: 'waiting'; reason: 'concurrency limit' }

const select = `
  select one.tool, one.status, one.gate, one.attempts,
    one.expires_at <= clock_timestamp() as is_expired,
    extract(epoch from one.not_before - clock_timestamp())::double precision * 1000 as early_ms,
    coalesce(tool.enabled and tool.removed_at is null, false) as is_enabled,
    coalesce((select is_on from switches where name = 'tools_enabled'), false) as are_tools_on,
    exists (
      select from images
      where hash = coalesce(one.pinned_hash, tool.current_hash) and engine_id = $2 and state = 'ready'
    ) as has_image
  from invocations as one
  left join tools as tool on tool.name = one.tool
  where one.id = $1`

type Row = {
  tool: string
  status: string
  gate: string
  attempts: number
  is_expired: boolean
  early_ms: number
  is_enabled: boolean
  are_tools_on: boolean
  has_image: boolean
}

// The kill switch acts, and is lifted, within a second.
const disabledAgainMs = 1_000
const imageAgainMs = 500

/** Why a row could not be claimed. `claimable`: nothing is in its way now but, unless it is open, the tool's limit. */
export async function explainWait(
  sql: Sql,
  worker: Worker,
  job: { invocationId: string; attempt: number },
): Promise<NoClaim | { kind: 'claimable'; tool: string; isOpen: boolean }> {
  const found = await sql.query<Row>(select, [job.invocationId, worker.engineId])
  const row = found.rows[0]
  if (row === undefined) return { kind: 'not_claimable', reason: 'gone' }
  if (row.status !== 'queued') return { kind: 'not_claimable', reason: 'not_queued' }
  if (row.attempts !== job.attempt - 1) return { kind: 'not_claimable', reason: 'other_attempt' }
  if (row.is_expired) return { kind: 'not_claimable', reason: 'expired' }
  if (row.early_ms > 0) return { kind: 'waiting', reason: 'delayed', againMs: Math.ceil(row.early_ms) + 1 }
  if (!row.is_enabled || !row.are_tools_on)
    return { kind: 'waiting', reason: 'tools_disabled', againMs: disabledAgainMs }
  if (!row.has_image) return { kind: 'waiting', reason: 'image building', againMs: imageAgainMs }
  return { kind: 'claimable', tool: row.tool, isOpen: row.gate === 'open' }
}
