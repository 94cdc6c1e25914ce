import type { ClosedInvocation } from '@toolyard/invocations/close-rows'
import type { ScheduleRow } from '../schedules/schedule.ts'
import { timingOf } from '../schedules/schedule.ts'

export type EndedRun = {
  closed: ClosedInvocation
  tickAt: Date
  /** Of the version that ran; null: that was no cron tool. */
  prompt: string | null
}

/** What ended runs make of a schedule's row. */
export type CountedEnds = {
  tool: string
  failures: number
  last_invocation_id: string
  last_status: string
  last_failure: { kind: string; message: string } | null
  last_ended_at: Date
  /** Prompts that newer ones took the place of. */
  superseded: number
  /** Why it is paused from here on. */
  pause: string | null
}

type Counting = Pick<ScheduleRow, 'tool' | 'asked' | 'overrides' | 'paused_at' | 'failures'>

export function countEnds(
  schedules: readonly Counting[],
  runs: readonly EndedRun[],
  superseded: ReadonlyMap<string, number>,
): CountedEnds[] {
  const byTool = Map.groupBy(runs, ({ closed }) => closed.tool)
  return schedules.flatMap((row) => {
    const ofTool = (byTool.get(row.tool) ?? []).map(({ closed }) => closed)
    const last = ofTool.at(-1)
    if (last === undefined) return []
    const failures = ofTool.reduce(failuresAfter, row.failures)
    const { failure } = last
    return [
      {
        tool: row.tool,
        failures,
        last_invocation_id: last.id,
        last_status: last.status,
        last_failure: failure === null ? null : { kind: failure.kind, message: failure.message },
        last_ended_at: last.finishedAt,
        superseded: superseded.get(row.tool) ?? 0,
        pause: row.paused_at === null ? pauseAfter(failures, timingOf(row).pause_after, last) : null,
      },
    ]
  })
}

/** Those of the tool itself: for a lost worker, a cancelled or an expired run it does not answer. */
function failuresAfter(failures: number, { status, failure }: ClosedInvocation): number {
  if (status === 'succeeded') return 0
  const isOfTool = (status === 'failed' || status === 'timed_out') && failure?.class !== 'platform'
  return isOfTool ? failures + 1 : failures
}

function pauseAfter(failures: number, max: number | null, { failure }: ClosedInvocation): string | null {
  if (max === null || failures < max) return null
  return `${failures} failures in a row, the last: ${failure?.kind ?? 'unknown'}`
}
