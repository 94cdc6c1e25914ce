import { countLatency } from './latency-buckets.ts'
import type { Memory } from './memory.ts'

// How an outcome or a feedback moves the memory.

const learningRate = 0.1
const weightMin = 0.1
const weightMax = 5
const rewardMax = 0.5
const recentRate = 0.2
const recentMin = 0.1

export type Outcome = {
  isSuccess: boolean
  /** -1 to 1 */
  reward: number
  /** Null where the time is not the tool's own. */
  latencyMs: number | null
  failure: { kind: string; at: Date } | null
}

export function weighOutcome(memory: Memory, outcome: Outcome): Memory {
  const success = outcome.isSuccess ? 1 : 0
  const counted = {
    attempts: memory.attempts + 1,
    successes: memory.successes + success,
    rewardSum: memory.rewardSum + outcome.reward,
  }
  return {
    ...counted,
    weight: stepWeight(memory.weight, counted),
    recent: clamp(memory.recent + recentRate * (success - memory.recent), recentMin, 1),
    latency: outcome.latencyMs === null ? memory.latency : countLatency(memory.latency, outcome.latencyMs),
    lastFailure: outcome.failure ?? memory.lastFailure,
  }
}

/** A word about an outcome that is counted already: it changes what that was worth, not whether it was a success. */
export function weighFeedback(memory: Memory, feedback: number, replacedReward: number): Memory {
  // What was forgotten, or never counted, has no average that could move.
  if (memory.attempts === 0) return memory
  // To a millionth: Postgres refuses to divide what is so small that nothing would be left of it, and such a sum would
  // keep every later call of the tool from ending.
  const rewardSum = memory.rewardSum + Math.round(feedback * 1e6) / 1e6 - replacedReward
  return { ...memory, rewardSum, weight: stepWeight(memory.weight, { ...memory, rewardSum }) }
}

type Counts = Pick<Memory, 'attempts' | 'successes' | 'rewardSum'>

export const successRateOf = ({ attempts, successes }: Counts) =>
  attempts === 0 ? null : successes / attempts

export const averageRewardOf = ({ attempts, rewardSum }: Counts) =>
  attempts === 0 ? null : rewardSum / attempts

function stepWeight(weight: number, { attempts, successes, rewardSum }: Counts): number {
  const target = (successes / attempts) * (1 + clamp(rewardSum / attempts, -rewardMax, rewardMax))
  return clamp(weight + learningRate * (target - weight), weightMin, weightMax)
}

const clamp = (value: number, min: number, max: number) => Math.min(max, Math.max(min, value))
