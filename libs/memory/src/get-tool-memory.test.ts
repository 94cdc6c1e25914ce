import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryListShape, toolMemoryShape } from '@toolyard/contract/memory'
import { transaction } from '@toolyard/db/transaction'
import { testDatabase } from '@toolyard/testkit/database'
import { boundKey, closedOne, operator, toolFailed } from '../fixtures/ground.ts'
import { getStandings } from './get-standings.ts'
import { getToolMemory } from './get-tool-memory.ts'
import { listMemory } from './list-memory.ts'
import { memoriesOf } from './memories-of.ts'
import { recordOutcomes } from './record-outcomes.ts'

const { pool } = await testDatabase()

const record = (parts: Parameters<typeof closedOne>[0][]) =>
  transaction(pool, (sql) => recordOutcomes(sql, parts.map(closedOne)))

await record([
  { tool: 'atlas', topic: 'trip' },
  { tool: 'atlas', topic: 'secret', ...toolFailed },
  { tool: 'atlas', topic: 'key:k9' },
  { tool: 'clock', topic: 'trip' },
  { tool: 'weather', topic: 'secret' },
])
// No outcome, but a row: it ran, and was cancelled.
await record([{ tool: 'zero', reward: null, status: 'cancelled' }])

const faultsOf = async (work: Promise<unknown>, code: string) =>
  assert.rejects(work, (error) => error instanceof Error && 'code' in error && error.code === code)

test('all of a tool is shown to whoever is bound to nothing, in the shape of the contract', async () => {
  const memory = toolMemoryShape.parse(await getToolMemory(pool, operator, 'atlas'))
  assert.ok('attempts' in memory.overall)
  const { updated_at: updatedAt, weight, recent, average_reward: average, ...overall } = memory.overall
  assert.deepEqual(overall, {
    attempts: 3,
    successes: 2,
    success_rate: 2 / 3,
    latency_ms: { p50: 99, p95: 99 },
    last_failure: { kind: 'tool_error', at: '2026-05-04T12:00:00.000Z' },
  })
  assert.ok(Math.abs((average ?? 0) - 0.4 / 3) < 1e-9)
  // 1.03 after the success, 0.9795 after the failure; then rate 2/3, average 0.4/3: target 0.66667 x 1.13333 = 0.75556
  assert.ok(Math.abs(weight - (0.9 * 0.9795 + (0.1 * 2 * 3.4) / 9)) < 1e-9)
  assert.ok(Math.abs(recent - 0.84) < 1e-9)
  assert.ok(Date.parse(updatedAt ?? '') > 0)
  assert.deepEqual(memory.topics.map(({ topic }) => topic).toSorted(), ['key:k9', 'secret', 'trip'])
  assert.equal(memory.truncated, false)
})

test('a key bound to topics sees those, and of the tool as a whole the weight alone', async () => {
  const full = await getToolMemory(pool, operator, 'atlas')
  const key = boundKey({ topics: ['trip', 'unused'] })
  const seen = await getToolMemory(pool, key, 'atlas')
  assert.deepEqual(seen.overall, { weight: full.overall.weight })
  assert.deepEqual(
    seen.topics.map(({ topic, attempts }) => [topic, attempts]),
    [['trip', 1]],
  )
  const { memory } = await listMemory(pool, key)
  assert.ok(memory.every(({ overall }) => Object.keys(overall).join() === 'weight'))
  const beside = await memoriesOf(pool, key, ['atlas'])
  assert.deepEqual(beside.get('atlas'), { weight: full.overall.weight })
  await faultsOf(listMemory(pool, key, { topic: 'secret' }), 'not_found')
})

test('a key bound to tools sees no other, neither alone nor in the list', async () => {
  const key = boundKey({ tools: ['clock', 'absent'] })
  await faultsOf(getToolMemory(pool, key, 'atlas'), 'not_found')
  assert.deepEqual(
    (await listMemory(pool, key)).memory.map(({ tool }) => tool),
    ['clock'],
  )
})

test('a tool that was never called has the memory of a new one', async () => {
  const fresh = {
    attempts: 0,
    successes: 0,
    success_rate: null,
    average_reward: null,
    weight: 1,
    recent: 1,
    latency_ms: null,
    last_failure: null,
    updated_at: null,
  }
  assert.deepEqual(await getToolMemory(pool, operator, 'nobody'), {
    tool: 'nobody',
    overall: fresh,
    topics: [],
    truncated: false,
  })
  assert.deepEqual((await memoriesOf(pool, operator, ['nobody', 'clock'])).get('nobody'), fresh)
  await faultsOf(getToolMemory(pool, operator, 'a\0b'), 'not_found')
})

test('the list is walked page by page, and holds only tools with outcomes', async () => {
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = memoryListShape.parse(await listMemory(pool, operator, { limit: 2, cursor }))
    assert.ok(page.memory.length <= 2)
    seen.push(...page.memory.map(({ tool }) => tool))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  assert.deepEqual(seen, ['atlas', 'clock', 'weather'])
  await faultsOf(listMemory(pool, operator, { limit: 201 }), 'invalid_request')
  await faultsOf(listMemory(pool, operator, { limit: 0 }), 'invalid_request')
  await faultsOf(listMemory(pool, operator, { cursor: 'a\0' }), 'invalid_request')
})

test('asked for a topic, the list says what is known there of each tool', async () => {
  const { memory } = memoryListShape.parse(await listMemory(pool, operator, { topic: 'trip' }))
  assert.deepEqual(
    memory.map(({ tool, topic }) => [tool, topic?.attempts ?? null]),
    [
      ['atlas', 1],
      ['clock', 1],
      ['weather', null],
    ],
  )
})

test('of very many topics the last used are listed, and that there are more', async () => {
  const topics = Array.from({ length: 230 }, (_, index) => `t${String(index).padStart(3, '0')}`)
  await record(topics.slice(0, 30).map((topic) => ({ tool: 'busy', topic })))
  await record(topics.slice(30).map((topic) => ({ tool: 'busy', topic })))
  const memory = await getToolMemory(pool, operator, 'busy')
  assert.equal(memory.truncated, true)
  assert.deepEqual(memory.topics.map(({ topic }) => topic).toSorted(), topics.slice(30))
  await pool.query("delete from tool_memory where tool = 'busy'")
  await pool.query("delete from topic_memory where tool = 'busy'")
})

test('standings leave out what has no outcomes, and take the mean over all tools that have', async () => {
  const standings = await getStandings(pool, operator, {
    tools: ['atlas', 'clock', 'zero', 'nobody'],
    topic: 'trip',
  })
  assert.deepEqual([...standings.overall.keys()].toSorted(), ['atlas', 'clock'])
  assert.deepEqual([...standings.inTopic.keys()].toSorted(), ['atlas', 'clock'])
  assert.deepEqual(standings.inTopic.get('atlas'), { weight: 1.03, recent: 1, attempts: 1 })
  assert.equal(standings.overall.get('atlas')?.attempts, 3)
  const atlas = (await getToolMemory(pool, operator, 'atlas')).overall.weight
  // atlas, and clock and weather with one success each; `zero` has none and `nobody` no row
  assert.ok(Math.abs((standings.meanWeight ?? 0) - (atlas + 1.03 + 1.03) / 3) < 1e-9)
  assert.equal((await getStandings(pool, operator, { tools: ['atlas'], topic: 'elsewhere' })).inTopic.size, 0)
})

test('where its topic knows nothing, a bound key goes by the weight alone', async () => {
  const asked = { tools: ['atlas', 'weather'], topic: 'trip' }
  const full = await getStandings(pool, operator, asked)
  const seen = await getStandings(pool, boundKey({ topics: ['trip'] }), asked)
  assert.deepEqual(seen.inTopic, full.inTopic)
  assert.deepEqual(seen.overall.get('atlas'), { weight: full.overall.get('atlas')?.weight, recent: 1 })
  assert.ok((full.overall.get('atlas')?.recent ?? 1) < 1)
})
