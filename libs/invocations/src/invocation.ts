import type { FailureClass, FailureKind, InvocationStatus, WaitingFor } from '@toolyard/contract/invocations'
import type { Json } from '@toolyard/contract/parameters'

/** What a caller may read of a failure: redacted and sanitised before it comes here. */
export type Failure = { kind: FailureKind; class: FailureClass; message: string; exit_code?: number }

/** What a caller is given: redacted, sanitised and cut before it comes here (I6, I7). */
export type InvocationResult = {
  text: string
  html: string | null
  title: string | null
  data?: Json
  card?: Json
  output: { synthesize: boolean; ephemeral: boolean }
  truncated: boolean
  removed: number
  budget_remaining?: number
  llm_context: string
}

/** What a tool says beside its result, to the platform alone: callers are not given it. Redacted before it comes here. */
export type ToolNotes = {
  /** Whether the agent is to hear of it; of a cron tool. */
  notify?: boolean
  priority?: 'critical' | 'normal' | 'low'
  /** What it wants to be told the next time. */
  state?: Json
}

export type Invocation = {
  id: string
  tool: string
  /** The author's word for the version that ran, or would run if nothing changed. */
  toolVersion: string | null
  imageHash: string
  topic: string
  keyId: string | null
  status: InvocationStatus
  waitingFor: WaitingFor | null
  cancelRequested: boolean
  priority: number
  attempts: number
  createdAt: Date
  dueAt: Date
  expiresAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  /** Undefined where it was not asked for: lists leave results out. */
  result?: InvocationResult | null
  failure: Failure | null
  reward: number | null
  feedback: number | null
  searchId: string | null
  replayOf: string | null
  metadata: Json
}

export type InvocationRow = {
  id: string
  tool: string
  tool_version: string | null
  hash: string
  topic: string
  key_id: string | null
  status: InvocationStatus
  waiting_for: WaitingFor | null
  cancel_requested: boolean
  priority: number
  attempts: number
  created_at: Date
  due_at: Date
  expires_at: Date
  started_at: Date | null
  finished_at: Date | null
  result?: InvocationResult | null
  failure: Failure | null
  reward: number | null
  feedback: number | null
  search_id: string | null
  replay_of: string | null
  metadata: Json
}

export function toInvocation(row: InvocationRow): Invocation {
  return {
    id: row.id,
    tool: row.tool,
    toolVersion: row.tool_version,
    imageHash: row.hash,
    topic: row.topic,
    keyId: row.key_id,
    status: row.status,
    waitingFor: row.waiting_for,
    cancelRequested: row.cancel_requested,
    priority: row.priority,
    attempts: row.attempts,
    createdAt: row.created_at,
    dueAt: row.due_at,
    expiresAt: row.expires_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    ...(row.result === undefined ? {} : { result: row.result }),
    failure: row.failure,
    reward: row.reward,
    feedback: row.feedback,
    searchId: row.search_id,
    replayOf: row.replay_of,
    metadata: row.metadata,
  }
}
