import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { combinations } from '../fixtures/combinations.ts'
import { failure, success } from '../fixtures/outcomes.ts'
import {
  keyActor,
  makeTool,
  makeWorld,
  operator,
  runningOne,
  setSlots,
  submitOne,
  worker,
} from '../fixtures/world.ts'
import { cancel } from './cancel.ts'
import { finish } from './finish.ts'
import { getInvocation } from './get.ts'
import { getRaw } from './get-raw.ts'
import { toInvocationShape } from './invocation-shape.ts'
import type { ListRequest } from './list.ts'
import { listInvocations } from './list.ts'
import { resolveTopic } from './resolve-topic.ts'

const { pool, deps } = await makeWorld()
await makeTool(pool, 'news')

const made: { id: string; tool: string; topic: string; status: string }[] = []
for (let i = 0; i < 24; i++) {
  const tool = i % 3 === 0 ? 'news' : 'weather'
  const topic = `t${i % 4}`
  const hold = await runningOne(deps, { tool, topic })
  const status = ['running', 'succeeded', 'failed'][i % 5 > 2 ? 0 : i % 5] ?? 'running'
  if (status === 'succeeded') await finish(deps, { hold, outcome: success })
  if (status === 'failed') await finish(deps, { hold, outcome: failure })
  made.push({ id: hold.id, tool, topic, status })
}
made.sort((a, b) => (a.id < b.id ? 1 : -1))

const idsOf = async (request: ListRequest, actor = operator) =>
  (await listInvocations(pool, actor, request)).invocations.map(({ id }) => id)

test('every mix of filters and bindings gives exactly what fits, newest first', async () => {
  const actors = [
    { topics: null, tools: null },
    { topics: ['t0', 't1', 'nowhere'], tools: null },
    { topics: null, tools: ['news'] },
    { topics: ['t3'], tools: ['weather', 'gone'] },
  ]
  const every = combinations({
    actor: actors,
    tool: [undefined, 'news', 'weather', 'gone', 'a\0'],
    topic: [undefined, 't0', 't3'],
    status: [undefined, 'running', 'queued', 'succeeded', 'failed', 'expired'],
  })
  for (const { actor, ...request } of every) {
    const { topics, tools } = actor
    const { tool, topic, status } = request
    const expected = made.filter(
      (one) =>
        (topics === null || topics.includes(one.topic)) &&
        (tools === null || tools.includes(one.tool)) &&
        (tool === undefined || one.tool === tool) &&
        (topic === undefined || one.topic === topic) &&
        (status === undefined || one.status === status),
    )
    const bound = keyActor({ ...(topics && { topics }), ...(tools && { tools }) })
    const given = await idsOf(request, bound)
    const wanted = expected.map(({ id }) => id)
    assert.deepEqual(given, wanted, JSON.stringify({ actor, request }))
  }
})

test('pages follow each other without gap or repetition, and the last one says so', async () => {
  for (const actor of [operator, keyActor({ topics: ['t0', 't1', 't2', 't3'] })]) {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listInvocations(pool, actor, { cursor, limit: 7 })
      seen.push(...page.invocations.map(({ id }) => id))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    assert.deepEqual(
      seen,
      made.map(({ id }) => id),
    )
  }
  assert.equal((await listInvocations(pool, operator, { limit: 24 })).nextCursor, null)
})

test('lists hold no results; a limit or cursor out of bounds is refused', async () => {
  const page = await listInvocations(pool, operator, { status: 'succeeded' })
  assert.ok(page.invocations.every((one) => one.result === undefined && one.reward === 0.3))
  const refused = (error: unknown) => error instanceof AppError && error.code === 'invalid_request'
  for (const limit of [0, 201, 1.5, Number.NaN])
    await assert.rejects(listInvocations(pool, operator, { limit }), refused)
  for (const cursor of ['', 'x', "' or 1=1", 'inv_' + 'U'.repeat(26)])
    await assert.rejects(listInvocations(pool, operator, { cursor }), refused)
})

test('what a key may not see does not exist', async () => {
  const { id } = await submitOne(deps, { topic: 'mine' })
  const hidden = (error: unknown) => error instanceof AppError && error.code === 'not_found'
  for (const actor of [keyActor({ topics: ['theirs'] }), keyActor({ tools: ['news'] })]) {
    await assert.rejects(getInvocation(pool, actor, id), hidden)
    await assert.rejects(getRaw(pool, actor, id), hidden)
  }
  assert.equal((await getInvocation(pool, keyActor({ topics: ['mine'] }), id)).id, id)
  assert.equal(await getRaw(pool, operator, id), undefined)
  await assert.rejects(getInvocation(pool, operator, '\0'), hidden)
})

test('it says what it waits for, the first reason first', async () => {
  await makeTool(pool, 'slow', { constraints: { concurrency: 1 } })
  const open = await submitOne(deps, { tool: 'slow' })
  const held = await submitOne(deps, { tool: 'slow' })
  const delayed = await submitOne(deps, { tool: 'slow', delayMs: 60_000 })
  const reasons = () =>
    Promise.all(
      [open, held, delayed].map(async ({ id }) => (await getInvocation(pool, operator, id)).waitingFor),
    )
  assert.deepEqual(await reasons(), [null, 'concurrency limit', 'delayed'])
  await pool.query("update images set state = 'building' where tool = 'slow'")
  assert.deepEqual(await reasons(), ['image building', 'image building', 'delayed'])
  await pool.query('delete from workers')
  assert.deepEqual(await reasons(), ['no worker', 'no worker', 'delayed'])
  for (const off of ['enabled = false', 'enabled = true, removed_at = clock_timestamp()']) {
    await pool.query(`update tools set ${off} where name = 'slow'`)
    assert.deepEqual(await reasons(), ['tool_disabled', 'tool_disabled', 'delayed'], off)
  }
  await pool.query("update switches set is_on = false where name = 'tools_enabled'")
  assert.deepEqual(await reasons(), ['tools_disabled', 'tools_disabled', 'delayed'], 'all of them')
  await pool.query("update switches set is_on = true where name = 'tools_enabled'")
  await setSlots(pool, 1_000)
  await cancel(deps, operator, { id: held.id })
  assert.equal((await getInvocation(pool, operator, held.id)).waitingFor, null)
})

test('the answer has the shape of the API, in each state', async () => {
  const submitted = await submitOne(deps, { metadata: { a: [1] } })
  const queued = toInvocationShape(submitted)
  assert.deepEqual(queued, {
    id: submitted.id,
    tool: 'weather',
    tool_version: 'v weather-1',
    image_hash: 'weather-1',
    topic: 'trip',
    status: 'queued',
    attempts: 0,
    created_at: submitted.createdAt.toISOString(),
    started_at: null,
    finished_at: null,
    queue_ms: null,
    duration_ms: null,
    reward: null,
    metadata: { a: [1] },
    links: {
      self: `/invocations/${submitted.id}`,
      events: `/invocations/${submitted.id}/events`,
      cancel: `/invocations/${submitted.id}/cancel`,
      replay: `/invocations/${submitted.id}/replay`,
      feedback: `/invocations/${submitted.id}/feedback`,
    },
  })
  const hold = await runningOne(deps)
  await finish(deps, { hold, outcome: { kind: 'failed', failure: { ...failure.failure, exit_code: 3 } } })
  const failed = toInvocationShape(await getInvocation(pool, operator, hold.id), 'the end of stderr')
  assert.deepEqual(failed.failure, { ...failure.failure, exit_code: 3, stderr_tail: 'the end of stderr' })
  assert.equal(failed.result, undefined)
  assert.ok(failed.queue_ms !== null && failed.queue_ms >= 0 && failed.duration_ms !== null)
  const shown = toInvocationShape(await getInvocation(pool, operator, hold.id))
  assert.equal(shown.failure?.stderr_tail, undefined)
  assert.equal(worker.engineId in shown, false)
})

test('a call belongs to the topic that is named, or to the one that its key has', () => {
  const { key } = keyActor({ topics: ['a', 'b'], tools: ['weather'] })
  const isCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code
  assert.equal(resolveTopic(key, 'b'), 'b')
  assert.throws(() => resolveTopic(key, undefined), isCode('topic_required'))
  assert.throws(() => resolveTopic(key, 'c'), isCode('not_found'))
  const free = keyActor().key
  assert.equal(resolveTopic(free, undefined), 'key:k9')
  assert.throws(() => resolveTopic(free, 'key:other'), isCode('not_found'))
  assert.throws(() => resolveTopic(free, 'hook:news'), isCode('not_found'))
})
