import type { Sql } from '@toolyard/db/pool'
import type { ClosedInvocation } from '@toolyard/invocations/close-rows'
import { countOutcome } from './count-outcome.ts'
import { openMemory, writeMemory } from './open-memory.ts'
import type { PaidCall } from './spend.ts'
import { spend, utcDayOf } from './spend.ts'
import type { Outcome } from './weigh.ts'

/**
 * Moves the memory and the spend of the tools whose invocations were closed. In the transaction that closes them, which
 * is what makes it happen once for each (I3).
 */
export async function recordOutcomes(sql: Sql, closed: readonly ClosedInvocation[]): Promise<void> {
  // Everything of one tool before the next, in order, so that two batches cannot wait for each other in a circle.
  for (const one of closed.toSorted(byTool)) await recordOne(sql, one, paidCallOf(one))
}

async function recordOne(sql: Sql, one: ClosedInvocation, paid: PaidCall | undefined): Promise<void> {
  const { tool, topic } = one
  const outcome = outcomeOf(one)
  const isTold = paid !== undefined && paid.remaining !== null
  if (outcome !== undefined) {
    const isPaid = paid !== undefined && !isTold
    await countOutcome(sql, { tool, topic, outcome, day: utcDayOf(one.finishedAt), isPaid })
  }
  if (paid !== undefined && (isTold || outcome === undefined)) await spendOne(sql, tool, paid)
}

async function spendOne(sql: Sql, tool: string, paid: PaidCall): Promise<void> {
  const open = await openMemory(sql, { tool, topic: null })
  open.budget = spend(open.budget, paid)
  await writeMemory(sql, open)
}

/** Undefined: it counts for nothing. Which ends do is judged where rows are closed. */
function outcomeOf(closed: ClosedInvocation): Outcome | undefined {
  if (closed.reward === null) return undefined
  const { failure, startedAt, finishedAt } = closed
  // Between several starts lie waits that are not the tool's.
  const isTimed = startedAt !== null && closed.attempts === 1
  return {
    isSuccess: closed.status === 'succeeded',
    reward: closed.reward,
    latencyMs: isTimed ? finishedAt.getTime() - startedAt.getTime() : null,
    failure: failure === null ? null : { kind: failure.kind, at: finishedAt },
  }
}

/** Undefined: nothing ran that could have cost anything. A call that was cancelled while it ran may have. */
function paidCallOf(closed: ClosedInvocation): PaidCall | undefined {
  const { startedAt, finishedAt, failure } = closed
  if (startedAt === null || failure?.class === 'platform') return undefined
  return {
    startedAt,
    finishedAt,
    isSuccess: closed.status === 'succeeded',
    remaining: closed.budgetRemaining,
  }
}

const byTool = (a: ClosedInvocation, b: ClosedInvocation) => (a.tool < b.tool ? -1 : a.tool > b.tool ? 1 : 0)
