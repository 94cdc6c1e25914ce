import assert from 'node:assert/strict'
import { test } from 'node:test'
import { finish } from '@toolyard/invocations/finish'
import { giveFeedback } from '@toolyard/invocations/give-feedback'
import { testDatabase } from '@toolyard/testkit/database'
import { operator, quiet, toolFailed, widePool } from '../fixtures/ground.ts'
import { runningRows } from '../fixtures/running-rows.ts'
import { getToolMemory } from './get-tool-memory.ts'
import { recordFeedback } from './record-feedback.ts'
import { recordOutcomes } from './record-outcomes.ts'

const { pool, url } = await testDatabase()
const wide = widePool(url, 40)
const deps = { pool, afterCommit: quiet }
const failed = { kind: 'failed', failure: toolFailed.failure } as const

async function failedOne(tool: string): Promise<string> {
  const [hold] = await runningRows(pool, 1, { tool })
  assert.ok(hold)
  await finish(deps, { hold, outcome: failed, within: recordOutcomes })
  return hold.id
}

test('feedback replaces what the outcome was worth, in the tool and in its topic, once (I3)', async () => {
  const id = await failedOne('judged')
  const before = await getToolMemory(pool, operator, 'judged')
  // A failure: rate 0, weight 1 + 0.1 x (0 - 1) = 0.9, recent 0.8
  assert.ok('attempts' in before.overall)
  assert.deepEqual(
    [before.overall.weight, before.overall.recent, before.overall.average_reward],
    [0.9, 0.8, -0.2],
  )
  const give = () => giveFeedback(pool, operator, { id, feedback: 0.8, within: recordFeedback })
  const answers = await Promise.all(Array.from({ length: 8 }, give))
  assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), [...Array(7).fill('already_given'), 'given'])
  const { overall, topics } = await getToolMemory(pool, operator, 'judged')
  assert.ok('attempts' in overall)
  // One attempt, no success, average 0.8; the rate is still 0: weight 0.9 x 0.9 = 0.81; recent as it was
  assert.deepEqual([overall.attempts, overall.success_rate, overall.recent], [1, 0, 0.8])
  assert.equal(overall.average_reward?.toFixed(9), '0.800000000')
  assert.equal(overall.weight.toFixed(9), '0.810000000')
  assert.deepEqual(overall.last_failure, before.overall.last_failure)
  const [topic] = topics
  assert.deepEqual(
    [topic?.topic, topic?.weight, topic?.average_reward],
    ['trip', overall.weight, overall.average_reward],
  )
})

test('feedback costs nothing and is no call', async () => {
  const id = await failedOne('priced')
  const spent = async () =>
    (await pool.query("select budget_spent, latency from tool_memory where tool = 'priced'")).rows[0]
  const before = await spent()
  await giveFeedback(pool, operator, { id, feedback: -1, within: recordFeedback })
  assert.deepEqual(await spent(), before)
})

test('feedback on an outcome whose topic was forgotten moves the tool alone', async () => {
  const id = await failedOne('forgetful')
  await pool.query("delete from topic_memory where tool = 'forgetful'")
  await giveFeedback(pool, operator, { id, feedback: 1, within: recordFeedback })
  const { overall, topics } = await getToolMemory(pool, operator, 'forgetful')
  assert.ok('attempts' in overall)
  assert.equal(overall.average_reward?.toFixed(9), '1.000000000')
  assert.deepEqual(topics, [])
})

test('feedback on an outcome from before there was a memory breaks nothing', async () => {
  const [hold] = await runningRows(pool, 1, { tool: 'ancient' })
  assert.ok(hold)
  await finish(deps, { hold, outcome: failed })
  const answer = await giveFeedback(pool, operator, { id: hold.id, feedback: 1, within: recordFeedback })
  assert.equal(answer.kind, 'given')
  const { overall } = await getToolMemory(pool, operator, 'ancient')
  assert.ok('attempts' in overall)
  assert.deepEqual([overall.attempts, overall.weight, overall.average_reward], [0, 1, null])
})

test('feedback and outcomes of one tool at once: none is lost', async () => {
  const judged = await Promise.all(Array.from({ length: 20 }, () => failedOne('crowded')))
  const holds = await runningRows(pool, 20, { tool: 'crowded' })
  await Promise.all([
    ...judged.map((id) => giveFeedback(wide, operator, { id, feedback: 0.5, within: recordFeedback })),
    ...holds.map((hold) =>
      finish({ ...deps, pool: wide }, { hold, outcome: failed, within: recordOutcomes }),
    ),
  ])
  const { overall, topics } = await getToolMemory(pool, operator, 'crowded')
  // 20 x 0.5 for those that were judged, 20 x -0.2 for the others, over 40 calls
  assert.ok('attempts' in overall)
  const [topic] = topics
  assert.deepEqual([overall.attempts, overall.average_reward?.toFixed(9)], [40, '0.150000000'])
  assert.deepEqual([topic?.attempts, topic?.average_reward?.toFixed(9)], [40, '0.150000000'])
})
