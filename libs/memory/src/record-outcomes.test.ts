import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '@toolyard/db/transaction'
import { cancel } from '@toolyard/invocations/cancel'
import { expire } from '@toolyard/invocations/expire'
import { finish } from '@toolyard/invocations/finish'
import { failure, result, success } from '@toolyard/invocations/fixtures/outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { closedOne, operator, quiet, toolFailed, widePool } from '../fixtures/ground.ts'
import { runningRows } from '../fixtures/running-rows.ts'
import { budgetsOf } from './budget.ts'
import { percentileOf } from './latency-buckets.ts'
import { noMemory } from './memory.ts'
import { openMemory } from './open-memory.ts'
import { recordOutcomes } from './record-outcomes.ts'
import { weighOutcome } from './weigh.ts'

const { pool, url } = await testDatabase()
const wide = widePool(url, 60)
const deps = { pool: wide, afterCommit: quiet }

const record = (...closed: Parameters<typeof closedOne>[0][]) =>
  transaction(pool, (sql) => recordOutcomes(sql, closed.map(closedOne)))

/** What the rows of a tool say. */
async function remembered(tool: string, ...names: string[]) {
  return transaction(pool, async (sql) => {
    const { memory, budget, topics } = await openMemory(sql, tool, names)
    return { memory, budget, topics }
  })
}

test('an outcome moves the tool and its topic, as the pure rule says, to the last bit', async () => {
  const outcomes = [{}, toolFailed, {}, { ...toolFailed, status: 'timed_out' as const }, {}]
  for (const outcome of outcomes) await record({ ...outcome, tool: 'exact' })
  await record({ tool: 'exact', topic: 'other' })
  let expected = noMemory
  const step = (parts: object) => {
    const closed = closedOne(parts)
    expected = weighOutcome(expected, {
      isSuccess: closed.status === 'succeeded',
      reward: closed.reward ?? Number.NaN,
      latencyMs: 100,
      failure: closed.failure && { kind: closed.failure.kind, at: closed.finishedAt },
    })
  }
  for (const outcome of outcomes) step(outcome)
  const { memory, topics } = await remembered('exact', 'trip', 'other', 'foreign')
  assert.deepEqual(topics.get('trip'), expected)
  step({})
  assert.deepEqual(memory, expected)
  assert.deepEqual([...topics.keys()].toSorted(), ['other', 'trip'])
  assert.equal(percentileOf(memory.latency, 0.5)?.toFixed(2), '98.70')
})

test('a batch counts each of its outcomes, also several of one tool, in their order', async () => {
  const parts = [{}, toolFailed, {}, toolFailed, {}]
  await record(
    ...parts.flatMap((one) => [
      { ...one, tool: 'batch_b' },
      { ...one, tool: 'batch_a', topic: 'x' },
    ]),
  )
  for (const one of parts) await record({ ...one, tool: 'single', topic: 'x' })
  const single = await remembered('single', 'x')
  assert.deepEqual(await remembered('batch_a', 'x'), single)
  assert.deepEqual((await remembered('batch_b', 'trip')).memory, single.memory)
})

test('what counts for nothing leaves no row', async () => {
  const platform = { kind: 'image_unavailable', class: 'platform', message: '' } as const
  const ours = {
    tool: 'uncounted',
    reward: null,
    startedAt: null,
    status: 'failed',
    failure: platform,
  } as const
  await record(
    { ...ours, status: 'cancelled', failure: { kind: 'cancelled', class: 'caller', message: '' } },
    { ...ours, status: 'expired', failure: { kind: 'expired', class: 'platform', message: '' } },
    ours,
    { ...ours, startedAt: new Date(), failure: { kind: 'sandbox_lost', class: 'platform', message: '' } },
  )
  const found = await pool.query("select 1 from tool_memory where tool = 'uncounted'")
  assert.equal(found.rowCount, 0)
})

test('a call that was started more than once is not timed: the waits between are not the tool’s', async () => {
  await record({ tool: 'retried', attempts: 2 }, { tool: 'retried', startedAt: null })
  const { memory } = await remembered('retried')
  assert.deepEqual([memory.attempts, percentileOf(memory.latency, 0.5)], [2, null])
})

test('50 finishes at once, each repeated twice, count once each (I3)', async () => {
  const holds = [
    ...(await runningRows(pool, 25, { tool: 'hot', topic: 'one' })),
    ...(await runningRows(pool, 25, { tool: 'hot', topic: 'two' })),
  ]
  const finishes = holds.flatMap((hold, index) => {
    const outcome = index % 5 === 0 ? failure : success
    return [1, 2, 3].map(() => finish(deps, { hold, outcome, within: recordOutcomes }))
  })
  const finished = await Promise.all(finishes)
  assert.equal(finished.filter((one) => one.kind === 'closed' && !one.isRepeated).length, 50)
  assert.equal(finished.filter((one) => one.kind === 'closed' && one.isRepeated).length, 100)
  for (const hold of holds) await finish(deps, { hold, outcome: success, within: recordOutcomes })
  const { memory, topics, budget } = await remembered('hot', 'one', 'two')
  assert.deepEqual([memory.attempts, memory.successes], [50, 40])
  assert.deepEqual([topics.get('one')?.attempts, topics.get('two')?.attempts], [25, 25])
  assert.ok(Math.abs(memory.rewardSum - (40 * 0.3 - 10 * 0.2)) < 1e-9)
  assert.equal(budget.spent, 50)
  assert.equal(
    memory.latency.reduce((sum, count) => sum + count, 0),
    50,
  )
})

test('the first 50 finishes of a tool that was never called are all counted', async () => {
  const holds = await runningRows(pool, 50, { tool: 'newborn' })
  await Promise.all(holds.map((hold) => finish(deps, { hold, outcome: success, within: recordOutcomes })))
  const { memory, topics } = await remembered('newborn', 'trip')
  assert.deepEqual([memory.attempts, topics.get('trip')?.attempts], [50, 50])
  assert.ok(Math.abs(memory.weight - (1.3 - 0.3 * 0.9 ** 50)) < 1e-9, 'each step stands on the one before')
})

test('an outcome that is rolled back has taught nothing', async () => {
  const [hold] = await runningRows(pool, 1, { tool: 'undone' })
  assert.ok(hold)
  const within: typeof recordOutcomes = async (sql, closed) => {
    await recordOutcomes(sql, closed)
    throw new Error('the delivery could not be written')
  }
  await assert.rejects(finish(deps, { hold, outcome: success, within }), /could not be written/)
  assert.equal((await remembered('undone')).memory.attempts, 0)
  await finish(deps, { hold, outcome: success, within: recordOutcomes })
  assert.equal((await remembered('undone')).memory.attempts, 1)
})

test('what is cancelled or expires through the verbs teaches nothing; cancelled while it ran, it may have cost', async () => {
  const [cancelled, expired] = await runningRows(pool, 2, { tool: 'stopped' })
  assert.ok(cancelled && expired)
  await cancel(deps, operator, { id: cancelled.id, within: recordOutcomes })
  await finish(deps, { hold: cancelled, outcome: success, within: recordOutcomes })
  await pool.query(
    "update invocations set status = 'queued', expires_at = now() - interval '1 second' where id = $1",
    [expired.id],
  )
  assert.equal(await expire(deps, recordOutcomes), 1)
  const { memory, budget } = await remembered('stopped')
  assert.deepEqual([memory.attempts, budget.spent], [0, 1])
})

test('batches of the same tools in opposite orders never wait for each other in a circle', async () => {
  const tools = Array.from({ length: 12 }, (_, index) => `crossed_${index}`)
  const batches = Array.from({ length: 40 }, (_, round) => {
    // Some are new to the table while others have them already, so rows are made and locked at once.
    const some = tools.filter((_tool, index) => (index + round) % 3 !== 0)
    const order = round % 2 === 0 ? some : some.toReversed()
    return order.map((tool) => closedOne({ tool, topic: `t${round % 4}` }))
  })
  await Promise.all(batches.map((batch) => transaction(wide, (sql) => recordOutcomes(sql, batch))))
  const found = await pool.query<{ sum: number }>(
    "select sum(attempts)::integer as sum from tool_memory where tool like 'crossed%'",
  )
  assert.equal(found.rows[0]?.sum, batches.flat().length)
  const inTopics = await pool.query<{ sum: number }>(
    "select sum(attempts)::integer as sum from topic_memory where tool like 'crossed%'",
  )
  assert.equal(inTopics.rows[0]?.sum, batches.flat().length)
})

test('nor do those in which one call counts and another only cost something', async () => {
  const counted = closedOne({ tool: 'mingled' })
  const stopped = closedOne({ tool: 'mingled', reward: null, status: 'cancelled' })
  const batches = Array.from({ length: 60 }, (_, round) =>
    round % 2 === 0 ? [stopped, counted] : [counted, stopped],
  )
  await Promise.all(batches.map((batch) => transaction(wide, (sql) => recordOutcomes(sql, batch))))
  const { memory, budget } = await remembered('mingled')
  assert.deepEqual([memory.attempts, budget.spent], [60, 120])
})

test('what tools say of their budget is kept with the outcome, also when the call failed', async () => {
  const at = (second: number) => ({
    tool: 'told',
    startedAt: new Date(Date.UTC(2026, 4, 4, 12, 0, second)),
    finishedAt: new Date(Date.UTC(2026, 4, 4, 12, 0, second + 1)),
  })
  await record({ ...at(0), budgetRemaining: 500 })
  await record({ ...at(2), budgetRemaining: 499.5 })
  await record({ ...at(4), ...toolFailed, budgetRemaining: 498 })
  const { budget, memory } = await remembered('told')
  assert.deepEqual(budget, {
    remaining: 498,
    seenAt: at(4).finishedAt,
    refilledAt: null,
    day: '2026-05-04',
    spent: 2,
  })
  assert.equal(memory.attempts, 3)
})

test('finish hands on what the tool said of its budget, whether it succeeded, failed or was cancelled', async () => {
  const holds = await runningRows(pool, 4, { tool: 'paid' })
  const telling = (remaining: number) => ({
    kind: 'succeeded' as const,
    result: { ...result, budget_remaining: remaining },
  })
  const [first, second, failed, cancelled] = holds
  assert.ok(first && second && failed && cancelled)
  await finish(deps, { hold: first, outcome: telling(500), within: recordOutcomes })
  await finish(deps, { hold: second, outcome: telling(499.5), within: recordOutcomes })
  await finish(deps, { hold: failed, outcome: { ...failure, budgetRemaining: 498 }, within: recordOutcomes })
  const afterFailure = await remembered('paid')
  assert.deepEqual([afterFailure.budget.remaining, afterFailure.budget.spent], [498, 2])
  assert.deepEqual([afterFailure.memory.attempts, afterFailure.memory.successes], [3, 2])
  await cancel(deps, operator, { id: cancelled.id, within: recordOutcomes })
  await finish(deps, { hold: cancelled, outcome: telling(497), within: recordOutcomes })
  const { budget, memory } = await remembered('paid')
  assert.deepEqual([budget.remaining, budget.spent], [497, 3])
  assert.deepEqual([memory.attempts, memory.successes], [3, 2], 'and has taught nothing')
})

test('a hostile number in a result does not keep the invocation from ending', async () => {
  for (const remaining of [1e308, -1e308, 1e308]) {
    const [hold] = await runningRows(pool, 1, { tool: 'hostile' })
    assert.ok(hold)
    const outcome = { ...success, result: { ...result, budget_remaining: remaining } }
    assert.equal((await finish(deps, { hold, outcome, within: recordOutcomes })).kind, 'closed')
  }
  const budget = (await budgetsOf(pool, new Map([['hostile', 10]]))).get('hostile')
  assert.equal(budget?.isExhausted, true)
})
