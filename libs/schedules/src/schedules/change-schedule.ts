import type { Call } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Fault } from '@toolyard/contract/errors'
import { describeIssue } from '@toolyard/contract/describe-issue'
import { toPointer } from '@toolyard/contract/faults'
import { trigger } from '@toolyard/contract/manifest'
import { readSchedule } from '../rules/schedule.ts'
import type { ScheduleDeps } from '../ticks/fire-due.ts'
import { alterSchedule } from './alter-schedule.ts'
import type { ScheduleRow, Timing } from './schedule.ts'
import { isSameTime, later, timingOf } from './schedule.ts'

const names = [
  'schedule',
  'timezone',
  'overlap',
  'catch_up_seconds',
  'jitter_seconds',
  'pause_after',
] as const

/** Null: as the manifest says. What is not named stays. To never pause by itself: `pause_after: 0`. */
export type TimingChange = { [K in keyof Timing]?: NonNullable<Timing[K]> | null | undefined }

/** What an operator wants instead of what the manifest says; it outlasts new versions of the tool. */
export async function changeSchedule(
  deps: ScheduleDeps,
  call: Call,
  { tool, change, now }: { tool: string; change: TimingChange; now: Date },
): Promise<ScheduleRow> {
  return alterSchedule(deps, call, {
    tool,
    now,
    change: async (row) => retimed(row, change, now),
    note: { action: 'schedule.change', detail: change },
  })
}

function retimed(row: ScheduleRow, change: TimingChange, now: Date): ScheduleRow {
  const overrides = applied(row.overrides, change)
  const changed = { ...row, overrides }
  const faults = timingFaults(timingOf(changed))
  if (faults.length > 0) throw new AppError('invalid_request', 'The schedule has faults', { faults })
  if (isSameTime(row, changed)) return changed
  if (row.next_tick_at !== null && row.next_tick_at <= now) {
    const message = `Ticks of ${row.tool} wait for room in the queue: change it when they have gone`
    throw new AppError('queue_full', message, { retryAfterSeconds: 5 })
  }
  // Ticks of the new timing count from now on.
  return { ...changed, last_tick_at: later(row.last_tick_at, now) }
}

function applied(overrides: Partial<Timing>, change: TimingChange): Partial<Timing> {
  const kept = names.flatMap((name): [string, unknown][] => {
    const given = change[name]
    if (given === null) return []
    if (given !== undefined) return [[name, name === 'pause_after' && given === 0 ? null : given]]
    return Object.hasOwn(overrides, name) ? [[name, overrides[name]]] : []
  })
  // safe because each entry is of the type of its name
  return Object.fromEntries(kept) as Partial<Timing>
}

/** The rules of a manifest, and what cannot be meant by a schedule. */
function timingFaults({ pause_after, ...timing }: Timing): Fault[] {
  const pausing = pause_after === null ? {} : { pause_after }
  const parsed = trigger.safeParse(
    { type: 'cron', prompt: '-', ...timing, ...pausing },
    { error: describeIssue },
  )
  if (!parsed.success)
    return parsed.error.issues.map(({ path, message }) => ({ pointer: toPointer(path), detail: message }))
  const read = readSchedule(timing.schedule, timing.timezone)
  return 'faults' in read ? read.faults.map(({ field, detail }) => ({ pointer: `/${field}`, detail })) : []
}
