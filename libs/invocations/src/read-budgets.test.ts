import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPool } from '@toolyard/db/pool'
import { rememberingPool } from '@toolyard/testkit/remembering-pool'
import { success } from '../fixtures/outcomes.ts'
import { claimOne, makeTool, makeWorld, operator, submissionOf } from '../fixtures/world.ts'
import { cancel } from './cancel.ts'
import { finish } from './finish.ts'
import { readBudgets } from './read-budgets.ts'
import type { Submitted } from './submission.ts'
import { createSubmitter } from './submitter.ts'

const { pool, deps, database } = await makeWorld()
const { submit } = createSubmitter(deps)

const codeOf = (answer: Submitted) => (answer.kind === 'accepted' ? 'accepted' : answer.code)

const countOf = (answers: readonly Submitted[], code: string) =>
  answers.filter((answer) => codeOf(answer) === code).length

const spend = (tool: string, spent: number, remaining: number | null = null, day = 0) =>
  pool.query(
    `insert into tool_memory (tool, budget_day, budget_spent, budget_remaining, budget_seen_at)
     values ($1, (clock_timestamp() at time zone 'UTC')::date - $4::integer, $2, $3, case when $3::float8 is not null then now() end)
     on conflict (tool) do update set budget_spent = excluded.budget_spent`,
    [tool, spent, remaining, day],
  )

test('of a burst as many are accepted as the budget has left, whoever accepts them', async () => {
  await makeTool(pool, 'burst', { constraints: { cost_budget: 10 } })
  await spend('burst', 3.5)
  // As several processes do that know nothing of each other.
  const bursts = Array.from({ length: 5 }, () => {
    const other = createSubmitter(deps)
    return Array.from({ length: 10 }, () => other.submit(submissionOf({ tool: 'burst' })))
  })
  const all = await Promise.all(bursts.flat())
  assert.deepEqual([countOf(all, 'accepted'), countOf(all, 'budget_exhausted')], [7, 43])
  const refused = all.find((answer) => answer.kind === 'refused')
  assert.ok(refused?.kind === 'refused' && refused.code === 'budget_exhausted')
  assert.match(
    refused.message,
    /^burst has spent 3\.5 of 10 today, and 7 more are promised to calls that have not ended; the budget is fresh at \d{4}-\d\d-\d\dT00:00:00\.000Z$/,
  )
  assert.ok(refused.retryAfterSeconds >= 1 && refused.retryAfterSeconds <= 86_400)
})

test('a call that ends without a cost gives its part back; one that waits for its time keeps it', async () => {
  await makeTool(pool, 'narrow', { constraints: { cost_budget: 1 } })
  const first = await submit(submissionOf({ tool: 'narrow', delayMs: 60_000 }))
  assert.ok(first.kind === 'accepted')
  assert.equal(codeOf(await submit(submissionOf({ tool: 'narrow' }))), 'budget_exhausted')
  await cancel(deps, operator, { id: first.invocation.id })
  const second = await submit(submissionOf({ tool: 'narrow' }))
  assert.ok(second.kind === 'accepted')
  const hold = await claimOne(deps, second.invocation.id)
  assert.equal(codeOf(await submit(submissionOf({ tool: 'narrow' }))), 'budget_exhausted')
  await finish(deps, { hold, outcome: success, within: async (sql) => void (await sql.query('select 1')) })
  assert.equal(codeOf(await submit(submissionOf({ tool: 'narrow' }))), 'accepted', 'nothing was booked')
})

test('the same request is the same call, also where the budget has no room for another', async () => {
  await makeTool(pool, 'once', { constraints: { cost_budget: 1 } })
  const idempotency = { key: 'once', bodyHash: Buffer.alloc(32) }
  const [first, again] = [
    await submit(submissionOf({ tool: 'once', idempotency })),
    await submit(submissionOf({ tool: 'once', idempotency })),
  ]
  assert.ok(first.kind === 'accepted' && again.kind === 'accepted')
  assert.equal(again.invocation.id, first.invocation.id)
  assert.equal(codeOf(await submit(submissionOf({ tool: 'once' }))), 'budget_exhausted')
})

test('what was spent yesterday does not count, and a tool that tells what remains is judged by what it told', async () => {
  for (const tool of ['rested', 'telling', 'spent'])
    await makeTool(pool, tool, { constraints: { cost_budget: 5 } })
  await spend('rested', 100, null, 1)
  await spend('telling', 4.5, 12)
  await spend('spent', 5, 12)
  const burst = async (tool: string) =>
    countOf(await Promise.all(Array.from({ length: 9 }, () => submit(submissionOf({ tool })))), 'accepted')
  assert.deepEqual([await burst('rested'), await burst('telling'), await burst('spent')], [5, 9, 0])
})

test('the day is the one in UTC, whatever the time zone of the connection', async () => {
  for (const zone of ['Pacific/Auckland', 'America/Los_Angeles']) {
    const zoned = createPool({ url: database.url, max: 1, applicationName: 'zoned', onIdleError: () => {} })
    await zoned.query(`set time zone '${zone}'`)
    const budget = (await readBudgets(zoned, new Map([['narrow', 1]]))).get('narrow')
    assert.ok(budget)
    assert.equal(budget.resetsAt.toISOString().slice(10), 'T00:00:00.000Z', zone)
    const inMs = budget.resetsAt.getTime() - Date.now()
    assert.ok(inMs > -1_000 && inMs <= 86_401_000, zone)
    assert.ok(Math.abs(inMs / 1_000 - budget.resetsInSeconds) < 5, zone)
    await zoned.end()
  }
})

test('only for a tool with a budget is there more to ask', async () => {
  const remembering = rememberingPool(database.url)
  const ask = createSubmitter({ ...deps, pool: remembering.pool }).submit
  const asksFor = async (tool: string) => {
    remembering.take()
    assert.equal(codeOf(await ask(submissionOf({ tool }))), 'accepted')
    return remembering.take().filter(({ text }) => text.includes('tool_memory')).length
  }
  await makeTool(pool, 'metered', { constraints: { cost_budget: 5 } })
  assert.deepEqual([await asksFor('metered'), await asksFor('weather')], [1, 0])
})
