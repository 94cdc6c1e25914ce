import type { Json } from '@toolyard/contract/parameters'
import type { InvocationStatus, WaitingFor } from '@toolyard/contract/invocations'
import type { Failure, Invocation, InvocationResult } from './invocation.ts'

export type InvocationShape = {
  id: string
  tool: string
  tool_version: string | null
  image_hash: string
  topic: string
  status: InvocationStatus
  waiting_for?: WaitingFor
  attempts: number
  created_at: string
  started_at: string | null
  finished_at: string | null
  queue_ms: number | null
  duration_ms: number | null
  result?: InvocationResult
  failure?: Failure & { stderr_tail?: string }
  reward: number | null
  feedback?: number
  metadata: Json
  links: { self: string; events: string; cancel: string; replay: string; feedback: string }
}

/** As the API answers it. The end of stderr is for those who may see raw output, and is given by who has checked that. */
export function toInvocationShape(one: Invocation, stderrTail?: string): InvocationShape {
  const self = `/invocations/${one.id}`
  return {
    id: one.id,
    tool: one.tool,
    tool_version: one.toolVersion,
    image_hash: one.imageHash,
    topic: one.topic,
    status: one.status,
    ...(one.waitingFor === null ? {} : { waiting_for: one.waitingFor }),
    attempts: one.attempts,
    created_at: one.createdAt.toISOString(),
    started_at: one.startedAt?.toISOString() ?? null,
    finished_at: one.finishedAt?.toISOString() ?? null,
    // A wished delay is no time in the queue.
    queue_ms: msBetween(one.dueAt, one.startedAt),
    duration_ms: msBetween(one.startedAt, one.finishedAt),
    ...(one.result === undefined || one.result === null ? {} : { result: one.result }),
    ...(one.failure === null ? {} : { failure: withTail(one.failure, stderrTail) }),
    reward: one.reward,
    ...(one.feedback === null ? {} : { feedback: one.feedback }),
    metadata: one.metadata,
    links: {
      self,
      events: `${self}/events`,
      cancel: `${self}/cancel`,
      replay: `${self}/replay`,
      feedback: `${self}/feedback`,
    },
  }
}

const withTail = (failure: Failure, stderrTail: string | undefined) =>
  stderrTail === undefined ? failure : { ...failure, stderr_tail: stderrTail }

function msBetween(from: Date | null, to: Date | null): number | null {
  return from === null || to === null ? null : Math.max(0, to.getTime() - from.getTime())
}
