import type { Call } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import { printable } from '@toolyard/contract/keys'
import type { ScheduleDeps } from '../ticks/fire-due.ts'
import { alterSchedule } from './alter-schedule.ts'
import type { ScheduleRow } from './schedule.ts'

const reasonText = printable.trim().min(1).max(500)

/** From now on nothing starts by itself; what runs goes on, and what waits goes on waiting. */
export async function pauseSchedule(
  deps: ScheduleDeps,
  call: Call,
  { tool, reason: given, now }: { tool: string; reason: string; now: Date },
): Promise<ScheduleRow> {
  const parsed = reasonText.safeParse(given)
  if (!parsed.success) {
    const faults = [{ pointer: '/reason', detail: 'must be a text of one line with 1 to 500 characters' }]
    throw new AppError('invalid_request', 'The request has faults', { faults })
  }
  const reason = parsed.data
  return alterSchedule(deps, call, {
    tool,
    now,
    change: async (row) => ({ ...row, paused_at: row.paused_at ?? now, paused_reason: reason }),
    note: { action: 'schedule.pause', detail: { reason } },
  })
}
