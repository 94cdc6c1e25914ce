import { AppError } from '@toolyard/contract/errors'
import type { Json } from '@toolyard/contract/parameters'
import { checkPart } from '@toolyard/contract/payload'
import type { Sql } from '@toolyard/db/pool'
import type { ReadyJob } from '@toolyard/invocations/after-commit'
import type { QueueDepth } from '@toolyard/invocations/queue-depth'
import { refuseSubmission } from '@toolyard/invocations/refuse-submission'
import type { CheckedSubmission, Submitted } from '@toolyard/invocations/submission'
import { checkSubmission } from '@toolyard/invocations/submission'
import { submitWithin } from '@toolyard/invocations/submit-batch'
import { findUnconfigured } from '@toolyard/vault/find-unconfigured'
import { jitterMs } from '../rules/jitter.ts'
import type { ScheduleRow } from '../schedules/schedule.ts'
import { timingOf } from '../schedules/schedule.ts'
import { topicOf } from '../schedules/seen-tools.ts'
import type { StartAnswer } from './plan-ticks.ts'
import { readStates } from './tool-states.ts'
import type { Start } from './tick.ts'

export type WantedStarts = { row: ScheduleRow; starts: readonly Start[]; now: Date }

export type SubmittedStarts = {
  /** In the order of what was wanted, one for each start. */
  answers: StartAnswer[][]
  /** For the queue, once this is committed. */
  jobs: ReadyJob[]
}

/** Accepts or refuses the runs of these schedules as calls of their tools, in the transaction that writes their ticks. */
export async function submitStarts(
  sql: Sql,
  depth: QueueDepth,
  wanted: readonly WantedStarts[],
): Promise<SubmittedStarts> {
  const starting = wanted.filter(({ starts }) => starts.length > 0)
  if (starting.length === 0) return { answers: wanted.map(() => []), jobs: [] }
  const refusals = new Map<string, AppError>()
  for (const { row } of starting) {
    const refusal = await refusalOf(sql, row)
    if (refusal !== undefined) refusals.set(row.tool, refusal)
  }
  const ready = starting.filter(({ row }) => !refusals.has(row.tool))
  const states = await readStates(
    sql,
    ready.map(({ row }) => row.tool),
  )
  const submissions = ready.flatMap((one) =>
    one.starts.map((start) => toSubmission(one, start, states.get(one.row.tool))),
  )
  const batch =
    submissions.length === 0 ? { answers: [], jobs: [] } : await submitWithin(sql, depth, submissions)
  const answered = batch.answers.values()
  const answers = wanted.map(({ row, starts }) =>
    starts.map((): StartAnswer => {
      const refusal = refusals.get(row.tool)
      if (refusal !== undefined) return { kind: 'refused', code: refusal.code, refusal }
      const answer = answered.next().value
      if (answer === undefined) throw new Error('a batch was answered in part')
      return toAnswer(answer, row.tool)
    }),
  )
  return { answers, jobs: batch.jobs }
}

function toAnswer(submitted: Submitted, tool: string): StartAnswer {
  if (submitted.kind === 'accepted') return { kind: 'accepted', invocationId: submitted.invocation.id }
  return { kind: 'refused', code: submitted.code, refusal: refuseSubmission(submitted, tool) }
}

/** What could only fail is not started: the same that a caller would be refused for. */
async function refusalOf(sql: Sql, { tool, call }: ScheduleRow): Promise<AppError | undefined> {
  if (call.fault !== null)
    return new AppError('invalid_params', `${tool}: ${call.fault}`, { faults: call.faults ?? [] })
  const hasSettings = Object.keys(call.settings).length > 0
  return hasSettings ? findUnconfigured(sql, tool, call.settings) : undefined
}

function toSubmission({ row, now }: WantedStarts, start: Start, state: Json | undefined): CheckedSubmission {
  const { tool, call } = row
  const tickAt = start.tickAt.toISOString()
  // What an earlier version stored may be more than this one can be given.
  const fits = state !== undefined && checkPart('_state', state, call.input) === undefined
  return checkSubmission({
    tool,
    topic: topicOf(tool),
    keyId: null,
    params: fits ? { ...call.params, _state: state } : call.params,
    // The time that the run is for, also when it comes late.
    telemetry: { time: tickAt },
    metadata: { tick_at: tickAt, origin: start.origin },
    delayMs: delayOf(row, start, now),
    checkedHash: row.hash,
  })
}

function delayOf(row: ScheduleRow, { tickAt, origin, isBuffered }: Start, now: Date): number {
  if (origin !== 'schedule' || isBuffered) return 0
  const dueMs = tickAt.getTime() + jitterMs(row.tool, tickAt, timingOf(row).jitter_seconds)
  return Math.max(0, Math.round(dueMs - now.getTime()))
}
