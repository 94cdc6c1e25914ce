import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '@toolyard/db/transaction'
import { testDatabase } from '@toolyard/testkit/database'
import { closedOne, operator } from '../fixtures/ground.ts'
import { getToolMemory } from './get-tool-memory.ts'
import { pruneTopics } from './prune-topics.ts'
import { recordOutcomes } from './record-outcomes.ts'

const { pool } = await testDatabase()

const record = (parts: Parameters<typeof closedOne>[0][]) =>
  transaction(pool, (sql) => recordOutcomes(sql, parts.map(closedOne)))

test('topics that were not used for long are forgotten, over several pages; the tool is not', async () => {
  const topics = Array.from({ length: 4_500 }, (_, index) => `t${index}`)
  await record(topics.map((topic) => ({ topic })))
  await record([{ topic: 'young' }, { tool: 'zebra', topic: 'young' }])
  assert.equal(await pruneTopics(pool, 90), 0)
  await pool.query("update topic_memory set updated_at = now() - interval '91 days' where topic <> 'young'")
  assert.equal(await pruneTopics(pool, 90), 4_500)
  assert.equal(await pruneTopics(pool, 90), 0)
  const { overall, topics: left } = await getToolMemory(pool, operator, 'weather')
  assert.ok('attempts' in overall)
  assert.deepEqual([overall.attempts, left.map(({ topic }) => topic)], [4_501, ['young']])
})

test('a topic that is used just now is not forgotten, and is not waited for', async () => {
  await record([{ topic: 'awake' }])
  await pool.query("update topic_memory set updated_at = now() - interval '91 days' where topic = 'awake'")
  await transaction(pool, async (sql) => {
    await recordOutcomes(sql, [closedOne({ topic: 'awake' })])
    assert.equal(await pruneTopics(pool, 90), 0)
  })
  assert.equal(await pruneTopics(pool, 90), 0)
  const { topics } = await getToolMemory(pool, operator, 'weather')
  assert.equal(topics.find(({ topic }) => topic === 'awake')?.attempts, 2)
})
