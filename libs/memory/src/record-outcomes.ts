import type { Sql } from '@toolyard/db/pool'
import type { ClosedInvocation } from '@toolyard/invocations/close-rows'
import { noMemory } from './memory.ts'
import type { OpenMemory } from './open-memory.ts'
import { openMemory, writeMemory } from './open-memory.ts'
import type { PaidCall } from './spend.ts'
import { spend } from './spend.ts'
import type { Outcome } from './weigh.ts'
import { weighOutcome } from './weigh.ts'

/**
 * Moves the memory and the spend of the tools whose invocations were closed. In the transaction that closes them, which
 * is what makes it happen once for each (I3).
 */
export async function recordOutcomes(sql: Sql, closed: readonly ClosedInvocation[]): Promise<void> {
  const lessons = closed.flatMap((one) => lessonOf(one) ?? [])
  const byTool = Map.groupBy(lessons, ({ tool }) => tool)
  // One tool after the other, in order, so that two batches cannot wait for each other in a circle.
  for (const [tool, ofTool] of [...byTool].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const counted = ofTool.filter(({ outcome }) => outcome !== undefined)
    const open = await openMemory(sql, tool, [...new Set(counted.map(({ topic }) => topic))])
    for (const lesson of ofTool) learn(open, lesson)
    await writeMemory(sql, open)
  }
}

type Lesson = { tool: string; topic: string; outcome: Outcome | undefined; paid: PaidCall | undefined }

/** Undefined: it neither counts nor costs. */
function lessonOf(closed: ClosedInvocation): Lesson | undefined {
  const { tool, topic } = closed
  const [outcome, paid] = [outcomeOf(closed), paidCallOf(closed)]
  return outcome === undefined && paid === undefined ? undefined : { tool, topic, outcome, paid }
}

function learn(open: OpenMemory, { topic, outcome, paid }: Lesson): void {
  if (paid !== undefined) open.budget = spend(open.budget, paid)
  if (outcome === undefined) return
  open.memory = weighOutcome(open.memory, outcome)
  open.topics.set(topic, weighOutcome(open.topics.get(topic) ?? noMemory, outcome))
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
