import type { Actor } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import type { Fate, Origin } from '../ticks/tick.ts'
import type { ScheduleRow } from './schedule.ts'
import { scheduleColumns } from './schedule.ts'
import type { ScheduleShape } from './schedule-shape.ts'
import { toScheduleShape } from './schedule-shape.ts'
import { isToolName, noSuchSchedule, requireSeen, seenTools } from './seen-tools.ts'

export type ScheduleListRequest = { cursor?: string | undefined; limit?: number | undefined; now: Date }

export type SchedulePage = { schedules: ScheduleShape[]; nextCursor: string | null }

/** What became of one tick. */
export type TickShape = {
  tick_at: string
  origin: Origin
  fate: Fate
  reason: string | null
  invocation_id: string | null
  /** Of the run, once it has ended. */
  status: string | null
}

const limitDefault = 50
const limitMax = 200
const ticksShown = 20

// index: schedules_pkey
const selectPage = `
  select ${scheduleColumns} from schedules
  where is_active and ($1::text[] is null or tool = any($1)) and ($2::text is null or tool > $2)
  order by tool limit $3`

// index: schedules_pkey
const selectOne = `select ${scheduleColumns} from schedules where is_active and tool = $1`

// index: ticks_pkey
const selectTicks = `
  select tick_at, origin, fate, reason, invocation_id, status from ticks
  where tool = $1 order by tick_at desc limit ${ticksShown}`

/** By name, only what the actor may see. */
export async function listSchedules(
  sql: Sql,
  actor: Actor,
  request: ScheduleListRequest,
): Promise<SchedulePage> {
  const limit = readLimit(request)
  const { rows } = await sql.query<ScheduleRow>(selectPage, [
    seenTools(actor),
    request.cursor ?? null,
    limit + 1,
  ])
  const page = rows.slice(0, limit)
  return {
    schedules: page.map((row) => toScheduleShape(row, request.now)),
    nextCursor: rows.length > limit ? (page.at(-1)?.tool ?? null) : null,
  }
}

/** With what became of its latest ticks, the newest first. */
export async function getSchedule(
  sql: Sql,
  actor: Actor,
  { tool, now }: { tool: string; now: Date },
): Promise<ScheduleShape & { ticks: TickShape[] }> {
  requireSeen(actor, tool)
  const [found, ticks] = await Promise.all([
    sql.query<ScheduleRow>(selectOne, [tool]),
    sql.query<TickRow>(selectTicks, [tool]),
  ])
  const [row] = found.rows
  if (row === undefined) throw noSuchSchedule()
  return {
    ...toScheduleShape(row, now),
    ticks: ticks.rows.map(toTickShape),
  }
}

type TickRow = Omit<TickShape, 'tick_at'> & { tick_at: Date }

const toTickShape = ({ tick_at: tickAt, ...tick }: TickRow): TickShape => ({
  tick_at: tickAt.toISOString(),
  ...tick,
})

function readLimit({ limit = limitDefault, cursor }: ScheduleListRequest): number {
  const faults = []
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    faults.push({ pointer: '/limit', detail: `must be a whole number from 1 to ${limitMax}` })
  // A cursor is the name of the last tool of the page before.
  if (cursor !== undefined && !isToolName(cursor))
    faults.push({ pointer: '/cursor', detail: 'must be the next_cursor of the page before' })
  if (faults.length > 0) throw new AppError('invalid_request', 'The request has faults', { faults })
  return limit
}
