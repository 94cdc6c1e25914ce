import type { Actor } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import type { MemoryShape, OverallMemoryShape, TopicMemoryShape } from '@toolyard/contract/memory'
import { percentileOf } from './latency-buckets.ts'
import type { MemoryRow } from './memory.ts'
import { memoryColumns, noMemory, toMemory } from './memory.ts'
import { averageRewardOf, successRateOf } from './weigh.ts'

export const shownColumns = `${memoryColumns}, updated_at`
export type ShownRow = MemoryRow & { updated_at: Date }

/** Undefined: nothing is known. */
function toMemoryShape(row: ShownRow | undefined): MemoryShape {
  const memory = row === undefined ? noMemory : toMemory(row)
  const { attempts, successes, weight, recent, lastFailure } = memory
  return {
    attempts,
    successes,
    success_rate: successRateOf(memory),
    average_reward: averageRewardOf(memory),
    weight,
    recent,
    latency_ms: latencyOf(memory.latency),
    last_failure: lastFailure && { kind: lastFailure.kind, at: lastFailure.at.toISOString() },
    updated_at: row?.updated_at.toISOString() ?? null,
  }
}

export type TopicRow = ShownRow & { topic: string }

export const toTopicShape = (row: TopicRow): TopicMemoryShape => ({ topic: row.topic, ...toMemoryShape(row) })

/** A tool's memory as a whole is made of all topics: who is bound to some of them sees its weight and no more. */
export function toOverallShape(actor: Actor, row: ShownRow | undefined): OverallMemoryShape {
  const shape = toMemoryShape(row)
  return reachOf(actor).topics === null ? shape : { weight: shape.weight }
}

function latencyOf(buckets: readonly number[]): MemoryShape['latency_ms'] {
  const p50 = percentileOf(buckets, 0.5)
  const p95 = percentileOf(buckets, 0.95)
  return p50 === null || p95 === null ? null : { p50: Math.round(p50), p95: Math.round(p95) }
}
