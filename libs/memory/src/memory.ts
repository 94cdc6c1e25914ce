import { noLatency } from './latency-buckets.ts'

/** What outcomes and feedback of one tool add up to, overall or in one topic. */
export type Memory = {
  attempts: number
  successes: number
  rewardSum: number
  weight: number
  /** Moving average of success. */
  recent: number
  latency: readonly number[]
  lastFailure: { kind: string; at: Date } | null
}

/** Before the first outcome. */
export const noMemory: Memory = {
  attempts: 0,
  successes: 0,
  rewardSum: 0,
  weight: 1,
  recent: 1,
  latency: noLatency,
  lastFailure: null,
}

/** The same in both tables. */
export const memoryColumns = `
  attempts::double precision as attempts, successes::double precision as successes, reward_sum, weight, recent, latency,
  last_failure_kind, last_failure_at`

export type MemoryRow = {
  attempts: number
  successes: number
  reward_sum: number
  weight: number
  recent: number
  latency: number[]
  last_failure_kind: string | null
  last_failure_at: Date | null
}

export function toMemory(row: MemoryRow): Memory {
  const { last_failure_kind: kind, last_failure_at: at } = row
  return {
    attempts: row.attempts,
    successes: row.successes,
    rewardSum: row.reward_sum,
    weight: row.weight,
    recent: row.recent,
    latency: row.latency,
    lastFailure: kind === null || at === null ? null : { kind, at },
  }
}
