import { requireActorScope } from '@toolyard/access/require-scope'
import type { Call } from '@toolyard/access/actor'
import type { AuditNote } from '@toolyard/access/write-audit'
import { writeAudit } from '@toolyard/access/write-audit'
import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { cancelOvertaken } from '../ticks/cancel-overtaken.ts'
import type { ScheduleDeps } from '../ticks/fire-due.ts'
import { announce, fireDue } from '../ticks/fire-due.ts'
import { settle } from '../ticks/settle.ts'
import { lockSchedules } from './lock-schedules.ts'
import type { ScheduleRow } from './schedule.ts'
import { nextTickOf } from './schedule.ts'
import { noSuchSchedule, requireSeen } from './seen-tools.ts'
import { writeSchedules } from './write-schedules.ts'

export type Alteration = {
  tool: string
  now: Date
  /** What it is to be, from what it is once all that was due until now is settled. Undefined: it stays. */
  change: (row: ScheduleRow, sql: Sql) => Promise<ScheduleRow | undefined>
  note: Pick<AuditNote, 'action' | 'detail'>
}

/**
 * An operator's change of a schedule. What was due before it is settled in the same transaction, as it was meant then:
 * so no tick falls between two timings, and none is judged by one that came after it.
 */
export async function alterSchedule(
  deps: ScheduleDeps,
  call: Call,
  { tool, now, change, note }: Alteration,
): Promise<ScheduleRow> {
  requireActorScope(call.actor, 'schedules:manage')
  requireSeen(call.actor, tool)
  await fireDue(deps, [tool], now)
  await deps.depth.refresh()
  const { row, settled } = await transaction(deps.pool, async (sql) => {
    const before = await settle(sql, deps.depth, await lockSchedules(sql, [tool]), now)
    const [known] = before.rows
    if (known === undefined || !known.is_active) throw noSuchSchedule()
    const changed = await change(known, sql)
    if (changed === undefined) return { row: known, settled: before }
    const altered = { ...changed, next_tick_at: nextTickOf(changed) }
    await writeSchedules(sql, [altered])
    await writeAudit(sql, call, { ...note, target: `schedule:${tool}` })
    return { row: altered, settled: before }
  })
  announce(deps, settled)
  if (settled.cancelling.length > 0) await cancelOvertaken(deps, settled.cancelling)
  return row
}
