import type { Sql } from '@toolyard/db/pool'
import type { GivenFeedback } from '@toolyard/invocations/give-feedback'
import { openMemory, writeMemory } from './open-memory.ts'
import { weighFeedback } from './weigh.ts'

/** Moves the memory by what a caller thought of an outcome, in the transaction that keeps the feedback (I3). */
export async function recordFeedback(sql: Sql, given: GivenFeedback): Promise<void> {
  const { tool, topic, feedback, replacedReward } = given
  const open = await openMemory(sql, tool, [topic])
  open.memory = weighFeedback(open.memory, feedback, replacedReward)
  const inTopic = open.topics.get(topic)
  if (inTopic !== undefined) open.topics.set(topic, weighFeedback(inTopic, feedback, replacedReward))
  await writeMemory(sql, open)
}
