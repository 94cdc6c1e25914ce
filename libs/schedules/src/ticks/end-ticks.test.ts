import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '@toolyard/db/transaction'
import type { ClosedInvocation } from '@toolyard/invocations/close-rows'
import { finishAll } from '@toolyard/invocations/finish'
import { failure, result } from '@toolyard/invocations/fixtures/outcomes'
import { claimOne, submitOne } from '@toolyard/invocations/fixtures/world'
import type { CronTool } from '../../fixtures/ground.ts'
import { at, inWords, invocationOf, makeGround, operator, succeeded } from '../../fixtures/ground.ts'
import { listPrompts } from '../prompts/list-prompts.ts'
import { syncSchedules } from '../schedules/sync-schedules.ts'
import { endTicks } from './end-ticks.ts'
import { fireDue } from './fire-due.ts'
import { reconcile } from './reconcile.ts'

const ground = await makeGround()
const { deps, pool } = ground

/** Answers the calls of its ticks, minute by minute. */
async function begin(name: string, cron: CronTool = {}) {
  await ground.makeCron(name, { overlap: 'allow', ...cron })
  await syncSchedules(pool, at('10:00:00'))
  let minute = 0
  return async () => {
    minute += 1
    return invocationOf(await fireDue(deps, [name], at(`10:${String(minute).padStart(2, '0')}:00`)))
  }
}

const promptsOf = async (tool: string) => (await listPrompts(pool, operator.actor, { tool })).prompts

const paramsOf = async (id: string) =>
  (await pool.query<{ params: object }>('select params from invocation_inputs where id = $1', [id])).rows[0]
    ?.params

test("a run leaves a prompt: the manifest's words and what the tool wrote", async () => {
  const next = await begin('digest', { prompt: 'Check for overdue reminders:' })
  const id = await next()
  await ground.end(id, succeeded(undefined, 'three are overdue'))
  const [prompt, ...others] = await promptsOf('digest')
  assert.deepEqual(others, [])
  const { id: promptId, created_at, ...rest } = prompt ?? { id: '', created_at: '' }
  assert.match(promptId, /^prm_[0-9a-z]{26}$/)
  assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000)
  assert.deepEqual(rest, {
    tool: 'digest',
    invocation_id: id,
    tick_at: '2031-05-05T10:01:00.000Z',
    priority: 'normal',
    prompt: 'Check for overdue reminders:\n\n--- Tool Data ---\nthree are overdue',
    status: 'waiting',
    claims: 0,
    claimed_until: null,
  })
  assert.deepEqual(ground.takeTold().prompts, [
    {
      id: promptId,
      tool: 'digest',
      topic: 'cron:digest',
      invocationId: id,
      tickAt: at('10:01:00'),
      priority: 'normal',
    },
  ])
})

test('the tool says how much it matters, and whether at all; a failure leaves no prompt', async () => {
  const next = await begin('choosy')
  await ground.end(await next(), succeeded({ priority: 'critical' }, 'first'))
  await ground.end(await next(), succeeded({ notify: false }, 'second'))
  await ground.end(await next(), succeeded({ notify: true, priority: 'low' }, 'third'))
  await ground.end(await next(), failure)
  const cancelled = await next()
  await ground.cancel(cancelled)
  const found = (await promptsOf('choosy')).map(({ priority, prompt }) => [
    priority,
    prompt.split('\n').at(-1),
  ])
  assert.deepEqual(found, [
    ['low', 'third'],
    ['critical', 'first'],
  ])
  const stored = await pool.query<{ result: object }>(
    "select result from invocation_outcomes join invocations using (id) where tool = 'choosy' and result is not null",
  )
  for (const row of stored.rows) assert.ok(!('priority' in row.result || 'notes' in row.result))
})

test('only the end of a run that a tick began leaves a prompt, and the end of its last attempt', async () => {
  const next = await begin('retried', { manifest: { constraints: { retries: 1 } } })
  const called = await submitOne(deps, { tool: 'retried', topic: 'cron:retried', keyId: null })
  await ground.end(called.id, succeeded({ state: 7 }))
  await ground.end((await submitOne(deps, { tool: 'retried', topic: 'trip', keyId: 'k1' })).id)
  assert.deepEqual(await promptsOf('retried'), [])
  const id = await next()
  assert.deepEqual(await paramsOf(id), {}, 'nor does its state count')
  await ground.end(id, failure)
  assert.equal((await ground.ticks('retried'))[0]?.status, null)
  await pool.query("update invocations set not_before = now() - interval '1 second' where id = $1", [id])
  const hold = await claimOne(deps, id, 2)
  assert.equal((await ground.finish(hold)).kind, 'closed')
  // The answer was lost, and it is told again.
  assert.deepEqual(await ground.finish(hold), {
    kind: 'closed',
    status: 'succeeded',
    isRepeated: true,
  })
  assert.equal((await promptsOf('retried')).length, 1)
  assert.equal((await ground.ticks('retried'))[0]?.status, 'succeeded')
})

test('an end that is told twice counts once', async () => {
  const next = await begin('echoed')
  const id = await next()
  await ground.end(id)
  const closed: ClosedInvocation = {
    id,
    tool: 'echoed',
    topic: 'cron:echoed',
    keyId: null,
    status: 'succeeded',
    reward: 0.3,
    result,
    failure: null,
    budgetRemaining: null,
    hash: 'echoed-1',
    attempts: 1,
    createdAt: new Date(),
    startedAt: new Date(),
    finishedAt: new Date(),
    searchId: null,
  }
  assert.deepEqual(await transaction(pool, (sql) => endTicks(sql, [closed])), {
    prompts: [],
    alarms: [],
    paused: [],
  })
  assert.equal((await promptsOf('echoed')).length, 1)
})

test('what a run leaves of itself is given to the next, within its limits and for seven days', async () => {
  const next = await begin('stateful', {
    manifest: { parameters: { limit: { type: 'integer', default: 5 } } },
  })
  const state = { seen: ['a', 'ü\\u0000'], at: 3.5, __proto__: null, 'odd key': [{}] }
  await ground.end(await next(), succeeded({ state: JSON.parse(JSON.stringify(state)), notify: false }))
  const second = await next()
  assert.deepEqual(await paramsOf(second), { limit: 5, _state: JSON.parse(JSON.stringify(state)) })
  // What says nothing of it leaves it as it is; so does a failure.
  await ground.end(second, succeeded())
  await ground.end(await next(), failure)
  const fourth = await next()
  assert.deepEqual(Object.keys((await paramsOf(fourth)) ?? {}), ['limit', '_state'])
  await ground.end(fourth, succeeded({ state: false }))
  assert.deepEqual(await paramsOf(await next()), { limit: 5, _state: false })
  await pool.query("update tool_states set stored_at = stored_at - interval '7 days' where tool = 'stateful'")
  assert.deepEqual(await paramsOf(await next()), { limit: 5 })
})

test('a state that an earlier version could be given, and this one cannot, is left out', async () => {
  const next = await begin('shrunk', { manifest: { input: 'stdin' } })
  const large = 'x'.repeat(13 * 1_024)
  await ground.end(await next(), succeeded({ state: large }))
  const second = await next()
  assert.deepEqual(await paramsOf(second), { _state: large })
  await ground.makeCron('shrunk', { version: 2, overlap: 'allow' })
  assert.deepEqual(await paramsOf(await next()), {})
})

test('of runs that end in another order than they began in, the one that began last is believed', async () => {
  const next = await begin('overtaken')
  const [first, second] = [await next(), await next()]
  await ground.end(second, succeeded({ state: 'second' }))
  await ground.end(first, succeeded({ state: 'first' }))
  assert.deepEqual(await paramsOf(await next()), { _state: 'second' })
})

test('at most five wait of a tool: the least important and oldest give way, and are counted', async () => {
  const next = await begin('busy')
  const say = async (text: string, priority: 'critical' | 'normal' | 'low') =>
    ground.end(await next(), succeeded({ priority }, text))
  await say('c1', 'critical')
  for (const text of ['n1', 'n2', 'n3', 'n4']) await say(text, 'normal')
  ground.takeTold()
  await say('n5', 'normal')
  await say('l1', 'low')
  // What gives way at once is told to nobody.
  assert.deepEqual(
    ground.takeTold().prompts.map(({ priority }) => priority),
    ['normal'],
  )
  const prompts = await promptsOf('busy')
  const inWordsOf = (status: string) =>
    prompts.filter((one) => one.status === status).map(({ prompt }) => prompt.split('\n').at(-1))
  assert.deepEqual(inWordsOf('waiting'), ['n5', 'n4', 'n3', 'n2', 'c1'])
  assert.deepEqual(inWordsOf('superseded'), ['l1', 'n1'])
  assert.equal((await ground.scheduleOf('busy')).superseded_count, 2)
})

test('failures in a row pause the schedule where that was asked for; faults of ours do not count', async () => {
  const next = await begin('failing', { pause_after: 3 })
  const ours = {
    kind: 'failed',
    failure: { kind: 'internal', class: 'platform', message: 'the settings cannot be read' },
  } as const
  await ground.end(await next(), failure)
  await ground.end(await next(), failure)
  await ground.end(await next(), succeeded())
  assert.equal((await ground.scheduleOf('failing')).failures, 0)
  await ground.end(await next(), failure)
  await ground.end(await next(), ours)
  await ground.cancel(await next())
  await ground.end(await next(), failure)
  assert.deepEqual((await ground.scheduleOf('failing')).paused_reason, null)
  ground.takeTold()
  await ground.end(await next(), failure)
  const paused = await ground.scheduleOf('failing')
  assert.deepEqual(ground.takeTold().paused, [
    { tool: 'failing', reason: '3 failures in a row, the last: tool_error' },
  ])
  assert.deepEqual(
    [paused.failures, paused.paused_reason, paused.next_tick_at],
    [3, '3 failures in a row, the last: tool_error', null],
  )
  assert.deepEqual(await fireDue(deps, ['failing'], at('11:00:00')), [])
  assert.deepEqual(
    await reconcile(deps, at('11:00:00')).then((ticks) => ticks.filter(({ tool }) => tool === 'failing')),
    [],
  )
})

test('runs of several tools that end in one transaction are each told of once', async () => {
  const nexts = [await begin('joint_a', { pause_after: 2 }), await begin('joint_b')]
  const [a, b, c] = [await nexts[0]?.(), await nexts[1]?.(), await nexts[0]?.()]
  const holds = await Promise.all([a, b, c].map((id) => claimOne(deps, id ?? '')))
  const outcomes = [failure, succeeded({ state: 'b' }), failure]
  ground.takeTold()
  const inputs = holds.map((hold, index) => ({ hold, outcome: outcomes[index] ?? failure }))
  await finishAll(deps, inputs, deps.within === undefined ? {} : { within: deps.within })
  assert.deepEqual(
    ground.takeTold().prompts.map(({ tool }) => tool),
    ['joint_b'],
  )
  assert.deepEqual(
    (await ground.scheduleOf('joint_a')).paused_reason,
    '2 failures in a row, the last: tool_error',
  )
})

test('ends of many tools at once, while their ticks come, wait for nobody in a circle', async () => {
  const names = ['circle_a', 'circle_b', 'circle_c']
  for (const name of names) await ground.makeCron(name, { overlap: 'cancel_other', schedule: '* * * * * *' })
  await syncSchedules(pool, at('12:00:00'))
  for (let second = 1; second <= 12; second++) {
    const now = at(`12:00:${String(second).padStart(2, '0')}`)
    const { rows } = await pool.query<{ id: string }>(
      "select id from invocations where tool like 'circle%' and status = 'queued'",
    )
    const holds = await Promise.all(rows.map(({ id }) => claimOne(deps, id)))
    const finishing = finishAll(
      deps,
      holds.toReversed().map((hold) => ({ hold, outcome: succeeded() })),
      deps.within === undefined ? {} : { within: deps.within },
    )
    await Promise.all([finishing, fireDue(deps, names.toReversed(), now), fireDue(deps, names, now)])
  }
  for (const name of names) assert.equal(inWords(await ground.ticks(name)).length, 12)
})
