import type { AttemptFacts } from './decide-end.ts'
import type { InvocationStatus } from '@toolyard/contract/invocations'

/** A row that this transaction has locked: nobody else changes it until the commit. */
export type LockedRow = {
  id: string
  tool: string
  topic: string
  key_id: string | null
  /** The version that ran, or was to. */
  hash: string
  search_id: string | null
  created_at: Date
  started_at: Date | null
  locked_at: Date
  status: InvocationStatus
  gate: 'delayed' | 'held' | 'open' | 'closed'
  priority: number
  attempts: number
  attempt_token: string | null
  cancel_requested: boolean
  is_handed_over: boolean
  rerun: boolean
  retries_max: number
  tool_failures: number
  infra_failures: number
}

/** Of `invocations`. */
export const lockedColumns = `
  id, tool, topic, key_id, coalesce(ran_hash, pinned_hash, submitted_hash) as hash, search_id, created_at, started_at,
  clock_timestamp() as locked_at, status, gate, priority, attempts, attempt_token, rerun, retries_max, tool_failures, infra_failures,
  cancel_requested_at is not null as cancel_requested, handed_over_at is not null as is_handed_over`

export function toAttemptFacts(row: LockedRow): AttemptFacts {
  return {
    cancelRequested: row.cancel_requested,
    attempts: row.attempts,
    isHandedOver: row.is_handed_over,
    rerun: row.rerun,
    retriesMax: row.retries_max,
    toolFailures: row.tool_failures,
    infraFailures: row.infra_failures,
  }
}
