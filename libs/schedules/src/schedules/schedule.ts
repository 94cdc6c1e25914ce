import type { Fault } from '@toolyard/contract/errors'
import type { Manifest } from '@toolyard/contract/manifest'
import type { Json } from '@toolyard/contract/parameters'
import type { PayloadInput } from '@toolyard/contract/payload'
import type { Schedule } from '../rules/schedule.ts'
import { readSchedule } from '../rules/schedule.ts'
import { nextTicks } from '../rules/ticks.ts'

export const overlaps = ['skip', 'buffer_one', 'allow', 'cancel_other'] as const
export type Overlap = (typeof overlaps)[number]

/** When ticks come and what becomes of them, in the words of the manifest. */
export type Timing = {
  schedule: string
  timezone: string
  overlap: Overlap
  catch_up_seconds: number
  jitter_seconds: number
  pause_after: number | null
}

/** What a tick gives the tool, and what the tool must have for it. */
export type TickCall = {
  params: Record<string, Json>
  input: PayloadInput
  /** Those that it cannot run without. */
  settings: Manifest['config_schema']
  /** Why no tick can call it. */
  fault: string | null
  /** The same by params, with pointers; not in what an older release has written. */
  faults?: Fault[]
}

export type ScheduleRow = {
  tool: string
  hash: string
  asked: Timing
  overrides: Partial<Timing>
  call: TickCall
  is_active: boolean
  last_tick_at: Date
  next_tick_at: Date | null
  paused_at: Date | null
  paused_reason: string | null
  failures: number
  last_invocation_id: string | null
  last_status: string | null
  last_failure: { kind: string; message: string } | null
  last_ended_at: Date | null
  fired_count: number
  skipped_count: number
  missed_count: number
  superseded_count: number
}

export const scheduleColumns = `
  schedules.tool, schedules.hash, schedules.asked, schedules.overrides, schedules.call, schedules.is_active,
  schedules.last_tick_at, schedules.next_tick_at, schedules.paused_at, schedules.paused_reason, schedules.failures,
  schedules.last_invocation_id, schedules.last_status, schedules.last_failure, schedules.last_ended_at,
  schedules.fired_count, schedules.skipped_count, schedules.missed_count, schedules.superseded_count`

/** The version that serves, or is to serve first; '' of a tool that is gone. Of `tools` beside `schedules`. */
export const servedHash = `
  coalesce(case when tools.removed_at is null then coalesce(tools.current_hash, tools.wanted_hash) end, '')`

export const timingOf = ({ asked, overrides }: Timed): Timing => ({
  ...asked,
  ...overrides,
})

export const later = (a: Date, b: Date) => (a < b ? b : a)

/** Whether ticks come at the same times. */
export function isSameTime(one: Timed, other: Timed): boolean {
  const [a, b] = [timingOf(one), timingOf(other)]
  return a.schedule === b.schedule && a.timezone === b.timezone
}

type Timed = Pick<ScheduleRow, 'asked' | 'overrides'>

/** Undefined where it cannot be read: then no tick is due. */
export function scheduleOf(row: Timed): Schedule | undefined {
  const { schedule, timezone } = timingOf(row)
  const read = readSchedule(schedule, timezone)
  return 'schedule' in read ? read.schedule : undefined
}

export type TickFacts = Pick<ScheduleRow, 'asked' | 'overrides' | 'is_active' | 'paused_at' | 'last_tick_at'>

/** Null: none is awaited. */
export function nextTickOf(row: TickFacts): Date | null {
  const isResting = !row.is_active || row.paused_at !== null
  const schedule = isResting ? undefined : scheduleOf(row)
  return schedule === undefined ? null : (nextTicks(schedule, row.last_tick_at, 1)[0] ?? null)
}
