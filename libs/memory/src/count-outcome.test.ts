import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '@toolyard/db/transaction'
import { testDatabase } from '@toolyard/testkit/database'
import fc from 'fast-check'
import { countOutcome } from './count-outcome.ts'
import { countMax } from './latency-buckets.ts'
import { noMemory } from './memory.ts'
import { openMemory, writeMemory } from './open-memory.ts'
import { noBudget, spend, utcDayOf } from './spend.ts'
import { weighFeedback, weighOutcome } from './weigh.ts'

const { pool } = await testDatabase()

const noon = Date.parse('2026-05-04T12:00:00Z')
// Postgres is given 0 for -0.
const withoutSign = (value: number) => value + 0
const event = fc.record({
  isSuccess: fc.boolean(),
  reward: fc.oneof(
    fc.constantFrom(0.3, -0.2, -0.05),
    fc.integer({ min: -1_000_000, max: 1_000_000 }).map((millionths) => millionths / 1e6),
  ),
  latencyMs: fc.option(
    fc.oneof(fc.double({ min: 0, max: 2_000_000, noNaN: true }), fc.constantFrom(0, 1, 2 ** 20)),
  ),
  remaining: fc.option(fc.double({ min: -10, max: 1_000, noNaN: true }).map(withoutSign), { freq: 2 }),
  feedback: fc.option(fc.double({ min: -1, max: 1, noNaN: true })),
  // back and forth over midnights
  hours: fc.integer({ min: -30, max: 60 }),
})

const flat = { latencyMs: 5, remaining: null, feedback: null, hours: 0 }
const sinking = Array.from({ length: 30 }, () => ({ ...flat, isSuccess: false, reward: -0.2 }))
const rising = Array.from({ length: 30 }, () => ({ ...flat, isSuccess: true, reward: 0.9 }))

test('what SQL makes of any history is what the pure rule makes of it, to the last bit', async () => {
  let round = 0
  const history = fc.array(event, { minLength: 1, maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(history, async (events) => {
      const tool = `history_${++round}`
      const read = await transaction(pool, async (sql) => {
        let [memory, budget] = [noMemory, noBudget]
        for (const { isSuccess, reward, latencyMs, remaining, feedback, hours } of events) {
          const finishedAt = new Date(noon + hours * 3_600_000)
          const failure = isSuccess ? null : { kind: `kind_${hours}`, at: finishedAt }
          const outcome = { isSuccess, reward, latencyMs, failure }
          const paid = { startedAt: new Date(finishedAt.getTime() - 50), finishedAt, isSuccess, remaining }
          const isPaid = remaining === null
          await countOutcome(sql, { tool, topic: 't', outcome, day: utcDayOf(finishedAt), isPaid })
          memory = weighOutcome(memory, outcome)
          budget = spend(budget, paid)
          const open = await openMemory(sql, { tool, topic: 't' })
          if (!isPaid) open.budget = spend(open.budget, paid)
          if (feedback !== null && open.topic !== undefined) {
            open.memory = weighFeedback(open.memory, feedback, reward)
            open.topic.memory = weighFeedback(open.topic.memory, feedback, reward)
            memory = weighFeedback(memory, feedback, reward)
          }
          await writeMemory(sql, open)
        }
        return { expected: { memory, budget }, found: await openMemory(sql, { tool, topic: 't' }) }
      })
      const { memory, budget } = read.expected
      assert.deepEqual(read.found, { tool, memory, budget, topic: { name: 't', memory } })
    }),
    // None of those that are made up sinks to the floors or rises far enough to be held.
    { numRuns: 40, examples: [[sinking], [rising]] },
  )
})

test('a feedback next to nothing keeps no later call from ending', async () => {
  const outcome = { isSuccess: false, reward: 0, latencyMs: null, failure: null }
  const counted = { tool: 'tiny', topic: 't', outcome, day: '2026-05-04', isPaid: true }
  await transaction(pool, async (sql) => {
    await countOutcome(sql, counted)
    const open = await openMemory(sql, { tool: 'tiny', topic: null })
    open.memory = weighFeedback(open.memory, 5e-324, 0)
    await writeMemory(sql, open)
    await countOutcome(sql, counted)
    assert.equal((await openMemory(sql, { tool: 'tiny', topic: null })).memory.attempts, 2)
  })
})

test('a bucket that is full takes no outcome down with it', async () => {
  const outcome = { isSuccess: true, reward: 0.3, latencyMs: 100, failure: null }
  const counted = { tool: 'full', topic: 't', outcome, day: '2026-05-04', isPaid: true }
  await transaction(pool, (sql) => countOutcome(sql, counted))
  await pool.query("update tool_memory set latency[28] = $1, budget_spent = 1e15 where tool = 'full'", [
    countMax,
  ])
  await transaction(pool, (sql) => countOutcome(sql, counted))
  const { memory, budget } = await transaction(pool, (sql) => openMemory(sql, { tool: 'full', topic: null }))
  assert.deepEqual([memory.attempts, memory.latency[27], budget.spent], [2, countMax, 1e15])
})

test('the words of a topic and a failure are values, whatever they hold', async () => {
  const topic = `'; drop table tool_memory; -- "\\ {}`
  const failure = { kind: topic, at: new Date(noon) }
  const outcome = { isSuccess: false, reward: -0.2, latencyMs: 5, failure }
  await transaction(pool, (sql) =>
    countOutcome(sql, { tool: 'odd', topic, outcome, day: '2026-05-04', isPaid: true }),
  )
  const open = await transaction(pool, (sql) => openMemory(sql, { tool: 'odd', topic }))
  assert.deepEqual(open.topic?.memory.lastFailure, failure)
})
