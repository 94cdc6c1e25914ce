import type { Pool } from '@toolyard/db/pool'
import type { Depth } from './decide-submissions.ts'
import { queuedMax, queuedPerToolMax } from './limits.ts'

// index only: invocations_waiting. 95,000 rows: 15 ms.
const count = `select tool, count(*)::integer as count from invocations where finished_at is null group by tool`

const sampleMs = 1_000
// Close to a limit an old sample could refuse what would fit by now.
const sampleNearLimitMs = 100

export type QueueDepth = Depth & {
  /** Counts again when the last time is too long ago. A failure is the caller's: without a count nothing is accepted (I9). */
  refresh: () => Promise<void>
  add: (tool: string) => void
}

/**
 * How much waits, for the limits of the queue (I8): a count that is a second old at most, and what this process has
 * accepted since. Several processes can pass a limit together by what they accept within that second, and no more.
 */
export function createQueueDepth(
  pool: Pool,
  monotonicMs: () => number = () => performance.now(),
): QueueDepth {
  let counts = new Map<string, number>()
  let total = 0
  let sampledAtMs = Number.NEGATIVE_INFINITY
  let sampling: Promise<void> | undefined

  async function sample(): Promise<void> {
    const atMs = monotonicMs()
    const found = await pool.query<{ tool: string; count: number }>(count)
    counts = new Map(found.rows.map((row) => [row.tool, row.count]))
    total = found.rows.reduce((sum, row) => sum + row.count, 0)
    sampledAtMs = atMs
  }

  const isNearLimit = () =>
    total >= queuedMax * 0.9 || [...counts.values()].some((one) => one >= queuedPerToolMax * 0.9)

  return {
    ofTool: (tool) => counts.get(tool) ?? 0,
    total: () => total,
    add(tool) {
      counts.set(tool, (counts.get(tool) ?? 0) + 1)
      total += 1
    },
    async refresh() {
      const ageMs = monotonicMs() - sampledAtMs
      if (ageMs < sampleNearLimitMs || (ageMs < sampleMs && !isNearLimit())) return
      sampling ??= sample().finally(() => {
        sampling = undefined
      })
      await sampling
    },
  }
}
