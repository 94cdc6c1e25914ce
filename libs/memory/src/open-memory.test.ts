import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '@toolyard/db/transaction'
import { testDatabase } from '@toolyard/testkit/database'
import fc from 'fast-check'
import { countMax } from './latency-buckets.ts'
import type { Memory } from './memory.ts'
import { noMemory } from './memory.ts'
import { openMemory, writeMemory } from './open-memory.ts'
import { noBudget, spend } from './spend.ts'
import type { Outcome } from './weigh.ts'
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

test('what the rows make of any history is what the pure rule makes of it, to the last bit', async () => {
  let round = 0
  const history = fc.array(event, { minLength: 1, maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(history, async (events) => {
      const tool = `history_${++round}`
      const topic = 't'
      let [memory, budget] = [noMemory, noBudget]
      const found = await transaction(pool, async (sql) => {
        for (const { isSuccess, reward, latencyMs, remaining, feedback, hours } of events) {
          const finishedAt = new Date(noon + hours * 3_600_000)
          const failure = isSuccess ? null : { kind: `kind_${hours}`, at: finishedAt }
          const outcome = { isSuccess, reward, latencyMs, failure }
          const paid = { startedAt: new Date(finishedAt.getTime() - 50), finishedAt, isSuccess, remaining }
          const step = (before: Memory) => {
            const counted = weighOutcome(before, outcome)
            return feedback === null ? counted : weighFeedback(counted, feedback, reward)
          }
          memory = step(memory)
          budget = spend(budget, paid)
          const open = await openMemory(sql, tool, [topic])
          open.memory = step(open.memory)
          open.budget = spend(open.budget, paid)
          open.topics.set(topic, step(open.topics.get(topic) ?? noMemory))
          await writeMemory(sql, open)
        }
        return openMemory(sql, tool, [topic, 'foreign'])
      })
      assert.deepEqual(found, { tool, memory, budget, topics: new Map([[topic, memory]]) })
    }),
    // None of those that are made up sinks to the floors or rises far enough to be held.
    { numRuns: 40, examples: [[sinking], [rising]] },
  )
})

const opened = (tool: string, ...topics: string[]) =>
  transaction(pool, (sql) => openMemory(sql, tool, topics))

/** Moves a tool, and one topic of it, by one outcome. */
const count = (tool: string, outcome: Outcome, topic = 't') =>
  transaction(pool, async (sql) => {
    const open = await openMemory(sql, tool, [topic])
    open.memory = weighOutcome(open.memory, outcome)
    open.topics.set(topic, weighOutcome(open.topics.get(topic) ?? noMemory, outcome))
    await writeMemory(sql, open)
  })

test('a feedback next to nothing keeps no later call from ending', async () => {
  const outcome = { isSuccess: false, reward: 0, latencyMs: null, failure: null }
  await count('tiny', outcome)
  await transaction(pool, async (sql) => {
    const open = await openMemory(sql, 'tiny')
    open.memory = weighFeedback(open.memory, 5e-324, 0)
    await writeMemory(sql, open)
  })
  await count('tiny', outcome)
  assert.equal((await opened('tiny')).memory.attempts, 2)
})

test('a bucket that is full takes no outcome down with it', async () => {
  const outcome = { isSuccess: true, reward: 0.3, latencyMs: 100, failure: null }
  await count('full', outcome)
  await pool.query("update tool_memory set latency[28] = $1 where tool = 'full'", [countMax])
  await count('full', outcome)
  const { memory } = await opened('full')
  assert.deepEqual([memory.attempts, memory.latency[27]], [2, countMax])
})

test('the words of a topic and a failure are values, whatever they hold', async () => {
  const topic = `'; drop table tool_memory; -- "\\ {},null`
  const failure = { kind: topic, at: new Date(noon) }
  await count('odd', { isSuccess: false, reward: -0.2, latencyMs: 5, failure }, topic)
  assert.deepEqual((await opened('odd', topic)).topics.get(topic)?.lastFailure, failure)
})

test('several topics are written together, each its own, and no other', async () => {
  const at = new Date(noon)
  const outcomes: Record<string, Outcome> = {
    one: { isSuccess: true, reward: 0.3, latencyMs: 5, failure: null },
    two: { isSuccess: false, reward: -0.2, latencyMs: null, failure: { kind: 'timeout', at } },
  }
  await count('wide', { isSuccess: true, reward: 0.1, latencyMs: 1, failure: null }, 'kept')
  const kept = (await opened('wide', 'kept')).topics.get('kept')
  await transaction(pool, async (sql) => {
    const open = await openMemory(sql, 'wide', Object.keys(outcomes))
    for (const [topic, outcome] of Object.entries(outcomes))
      open.topics.set(topic, weighOutcome(noMemory, outcome))
    await writeMemory(sql, open)
  })
  const { topics } = await opened('wide', 'kept', 'one', 'two')
  const expected = Object.entries(outcomes).map(
    ([topic, one]) => [topic, weighOutcome(noMemory, one)] as const,
  )
  assert.deepEqual(topics, new Map([['kept', kept], ...expected]))
})
