import type { Invocation } from '@toolyard/invocations/invocation'
import { isFinal } from '@toolyard/contract/invocations'
import { describeProgress } from './follow-call.ts'
import { toToolResult } from './to-tool-result.ts'

// Long calls by the Tasks extension: the task is the invocation, so it lives as long as that, in whatever process.

export const tasksExtension = 'io.modelcontextprotocol/tasks'

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** Whether a client has said, with its request, that it understands a task for an answer. */
export function takesTasks(envelope: unknown): boolean {
  const capabilities = isRecord(envelope) ? envelope[capabilitiesKey] : undefined
  return isRecord(capabilities) && isRecord(capabilities['extensions'])
    ? isRecord(capabilities['extensions'][tasksExtension])
    : false
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const pollIntervalMs = 1_000
// Results are kept for longer; so long they are there for sure.
const ttlMs = 86_400_000

export function toTask(one: Invocation) {
  const base = {
    taskId: one.id,
    createdAt: one.createdAt.toISOString(),
    lastUpdatedAt: (one.finishedAt ?? one.startedAt ?? one.createdAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  }
  if (!isFinal(one.status)) {
    const statusMessage = one.cancelRequested ? 'being ended' : describeProgress(one)
    return { ...base, status: 'working' as const, statusMessage }
  }
  if (one.status === 'cancelled') return { ...base, status: 'cancelled' as const }
  // A tool that failed has completed: its result says so.
  const result = { resultType: 'complete', ...toToolResult(one) }
  return { ...base, status: 'completed' as const, result }
}

/** What is answered in the place of a result. */
export const toTaskStart = (one: Invocation) => ({
  ...toTask(one),
  // For the SDK's types alone, by which whatever a call is answered with has some.
  content: [],
  resultType: 'task',
})
