import type { Actor } from '@toolyard/access/actor'
import { isToolName } from '@toolyard/contract/keys'
import type { PageRequest } from '@toolyard/contract/page'
import { cutPage, readPageRequest } from '@toolyard/contract/page'
import type { Sql } from '@toolyard/db/pool'
import type { Fate, Origin } from '../ticks/tick.ts'
import type { ScheduleRow } from './schedule.ts'
import { scheduleColumns } from './schedule.ts'
import type { ScheduleShape } from './schedule-shape.ts'
import { toScheduleShape } from './schedule-shape.ts'
import { noSuchSchedule, requireSeen, seenTools } from './seen-tools.ts'

export type ScheduleListRequest = PageRequest & { now: Date }

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
  const { after, limit } = readPageRequest(request, isToolName)
  const { rows } = await sql.query<ScheduleRow>(selectPage, [seenTools(actor), after, limit + 1])
  const { page, nextCursor } = cutPage(rows, limit, ({ tool }) => tool)
  return { schedules: page.map((row) => toScheduleShape(row, request.now)), nextCursor }
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
