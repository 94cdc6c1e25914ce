import type { FinalStatus } from '@toolyard/contract/invocations'
import type { Failure } from './invocation.ts'

const rewards = { success: 0.3, failure: -0.2, external: -0.05 }

/** What an outcome is worth to its tool. Null: it does not count, because the tool had no part in it. */
export function rewardOf(status: FinalStatus, failure: Failure | null): number | null {
  if (status === 'succeeded') return rewards.success
  if (status !== 'failed' && status !== 'timed_out') return null
  if (failure?.class === 'external') return rewards.external
  return failure?.class === 'internal' ? rewards.failure : null
}
