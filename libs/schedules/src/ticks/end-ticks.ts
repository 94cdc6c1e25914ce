import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { ClosedInvocation } from '@toolyard/invocations/close-rows'
import type { LockedSchedule } from '../schedules/lock-schedules.ts'
import { lockSchedules } from '../schedules/lock-schedules.ts'
import { isTickTopic } from '../schedules/seen-tools.ts'
import type { CreatedPrompt } from '../prompts/prompt.ts'
import { toNewPrompt } from '../prompts/prompt.ts'
import { writePrompts } from '../prompts/write-prompts.ts'
import type { EndedRun } from './count-ends.ts'
import { countEnds } from './count-ends.ts'
import type { LeftState } from './tool-states.ts'
import { keepStates } from './tool-states.ts'

/** For the queue `ticks`, once it is committed: a tick waits for the run that has just ended. */
export type TickAlarm = { id: string; data: { tool: string } }

export type EndedTicks = {
  /** What agents are to be told of. */
  prompts: CreatedPrompt[]
  alarms: TickAlarm[]
  /** Schedules that their failures have paused. */
  paused: { tool: string; reason: string }[]
}

// indexes: ticks_by_invocation, tool_versions_pkey
const end = prepared(`
  update ticks set ended_at = clock_timestamp(), status = one.status
  from json_to_recordset($1::json) as one (id text, status text, hash text)
  where ticks.invocation_id = one.id and ticks.ended_at is null
  returning ticks.invocation_id, ticks.tick_at, (
    select manifest #>> '{trigger,prompt}' from tool_versions where tool = ticks.tool and hash = one.hash
  ) as prompt`)

// index: ticks_open
const selectWaiting = prepared(`
  select tool from ticks where tool = any($1) and fate = 'buffered' and ended_at is null group by tool`)

// index: schedules_pkey
const writeEnds = prepared(`
  update schedules
  set failures = one.failures, last_invocation_id = one.last_invocation_id, last_status = one.last_status,
    last_failure = one.last_failure, last_ended_at = one.last_ended_at,
    superseded_count = superseded_count + one.superseded,
    paused_at = case when one.pause is null then paused_at else coalesce(paused_at, clock_timestamp()) end,
    paused_reason = coalesce(paused_reason, one.pause),
    next_tick_at = case when one.pause is null then next_tick_at end
  from json_to_recordset($1::json) as one (tool text, failures integer, last_invocation_id text, last_status text,
    last_failure json, last_ended_at timestamptz, superseded integer, pause text)
  where schedules.tool = one.tool and schedules.tool = any($2)`)

const nothing: EndedTicks = { prompts: [], alarms: [], paused: [] }

/**
 * What else is written when invocations end that ticks have started: prompts, states, how the schedule fares. In the
 * transaction that closes them, and once for each, because the row of its tick ends once. To be called after the memory
 * has been written, not beside it: that is the order of locks.
 */
export async function endTicks(sql: Sql, closed: readonly ClosedInvocation[]): Promise<EndedTicks> {
  const ours = closed.filter(({ keyId, topic }) => keyId === null && isTickTopic(topic))
  if (ours.length === 0) return nothing
  const ends = ours.map(({ id, status, hash }) => ({ id, status, hash }))
  type Row = { invocation_id: string; tick_at: Date; prompt: string | null }
  const [schedules, { rows }] = await Promise.all([
    lockSchedules(sql, [...new Set(ours.map(({ tool }) => tool))]),
    sql.query<Row>(end([JSON.stringify(ends)])),
  ])
  const byId = new Map(rows.map((row) => [row.invocation_id, row]))
  const runs = ours.flatMap((invocation): EndedRun[] => {
    const row = byId.get(invocation.id)
    return row === undefined ? [] : [{ closed: invocation, tickAt: row.tick_at, prompt: row.prompt }]
  })
  return runs.length === 0 ? nothing : writeRuns(sql, schedules, runs)
}

async function writeRuns(
  sql: Sql,
  schedules: readonly LockedSchedule[],
  runs: readonly EndedRun[],
): Promise<EndedTicks> {
  const tools = [...new Set(runs.map(({ closed }) => closed.tool))]
  const [{ created, superseded }, waiting] = await Promise.all([
    writePrompts(
      sql,
      runs.flatMap((run) => toNewPrompt(run) ?? []),
    ),
    sql.query<{ tool: string }>(selectWaiting([tools])),
    keepStates(sql, runs.flatMap(stateOf)),
  ])
  const counted = countEnds(schedules, runs, superseded)
  await sql.query(writeEnds([JSON.stringify(counted), tools]))
  const alarms = waiting.rows.flatMap(({ tool }): TickAlarm[] => {
    const last = runs.findLast(({ closed }) => closed.tool === tool)
    return last === undefined ? [] : [{ id: `ended-${last.closed.id}`, data: { tool } }]
  })
  const paused = counted.flatMap(({ tool, pause }) => (pause === null ? [] : [{ tool, reason: pause }]))
  return { prompts: created, alarms, paused }
}

function stateOf({ closed: { tool, id, status, notes } }: EndedRun): LeftState[] {
  const state = status === 'succeeded' ? notes?.state : undefined
  return state === undefined ? [] : [{ tool, invocationId: id, state }]
}
