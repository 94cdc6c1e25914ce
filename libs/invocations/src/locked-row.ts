import type { AttemptFacts } from './decide-end.ts'
import type { InvocationStatus } from './invocation.ts'

/** A row that this transaction has locked: nobody else changes it until the commit. */
export type LockedRow = {
  id: string
  tool: string
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
  id, tool, status, gate, priority, attempts, attempt_token, rerun, retries_max, tool_failures, infra_failures,
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
