import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { testDatabase } from '@toolyard/testkit/database'
import { makeTool, makeWorld, operator, rowOf, setSlots, submissionOf, submitOne } from '../fixtures/world.ts'
import { getInvocation } from './get.ts'
import { hashBody } from './hash-body.ts'
import { queuedPerToolMax } from './limits.ts'
import type { Submission, Submitted } from './submission.ts'
import { createSubmitter } from './submitter.ts'

const world = await makeWorld()
const { pool, deps } = world

const codeOf = (answer: Submitted) => (answer.kind === 'refused' ? answer.code : answer.kind)
const idOf = (answer: Submitted) => (answer.kind === 'accepted' ? answer.invocation.id : answer.code)
const keyed = (key: string, body: string, parts: Partial<Submission> = {}) =>
  submissionOf({ ...parts, idempotency: { key, bodyHash: hashBody({ body }) } })

test('what is accepted is stored, open, and its job goes out after the commit', async () => {
  world.effects()
  const made = await submitOne(deps, { metadata: { note: 'x' }, priority: 7 })
  assert.match(made.id, /^inv_[0-9a-z]{26}$/)
  assert.deepEqual(world.effects().jobs, [`${made.id}-1`])
  assert.deepEqual(await rowOf(pool, made.id), {
    status: 'queued',
    gate: 'open',
    attempts: 0,
    infra_failures: 0,
    tool_failures: 0,
    reward: null,
  })
  assert.deepEqual(await getInvocation(pool, operator, made.id), made)
})

test('a delayed one waits for its time, and its time to live begins then', async () => {
  world.effects()
  const made = await submitOne(deps, { delayMs: 60_000, ttlMs: 5_000 })
  assert.equal(made.waitingFor, 'delayed')
  assert.equal(made.dueAt.getTime() - made.createdAt.getTime(), 60_000)
  assert.equal(made.expiresAt.getTime() - made.dueAt.getTime(), 5_000)
  assert.equal((await rowOf(pool, made.id)).gate, 'delayed')
  assert.deepEqual(world.effects().jobs, [`${made.id}-1-due`])
  assert.deepEqual(await getInvocation(pool, operator, made.id), made)
})

test('texts that Postgres has no room for come back as they were given, and harm no neighbour', async () => {
  const { submit } = createSubmitter(deps)
  const params = { nul: 'a\0b', half: '\ud800', __proto__: 1, deep: [{ '': null }] }
  const answers = await Promise.all([submit(submissionOf({ params })), submit(submissionOf())])
  assert.deepEqual(answers.map(codeOf), ['accepted', 'accepted'])
  const stored = await pool.query('select params from invocation_inputs where id = $1', [idOf(answers[0])])
  assert.deepEqual(stored.rows[0].params, params)
})

test('one that cannot be stored is refused alone', async () => {
  const { submit } = createSubmitter(deps)
  const refused = (error: unknown) => error instanceof AppError && error.code === 'invalid_request'
  const good = submit(submissionOf())
  await assert.rejects(submit(submissionOf({ topic: 'a\0' })), refused)
  await assert.rejects(submit(submissionOf({ tool: '\0' })), refused)
  await assert.rejects(submit(submissionOf({ callbackUrl: '' })), refused)
  await assert.rejects(submit(keyed('x'.repeat(256), 'a')), refused)
  for (const priority of [-1, 10, 1.5, Number.NaN]) {
    await assert.rejects(submit(submissionOf({ priority })), refused)
  }
  for (const ttlMs of [0, -5, 7 * 24 * 3_600_000 + 1]) {
    await assert.rejects(submit(submissionOf({ ttlMs })), refused)
  }
  await assert.rejects(submit(submissionOf({ delayMs: 30 * 24 * 3_600_000 + 1 })), refused)
  assert.equal(codeOf(await good), 'accepted')
})

test('a fault that only writing it out or the database finds fails its own submission and nobody else', async () => {
  const { submit } = createSubmitter(deps)
  const deep = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000))
  const answers = await Promise.allSettled([
    submit(submissionOf({ params: { deep } })),
    submit(submissionOf({ keyId: 'a\0' })),
    submit(submissionOf()),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  )
})

test('a tool that is unknown, removed, disabled or without any image is refused, and so is all while the switch is off', async () => {
  const { submit } = createSubmitter(deps)
  for (const name of ['removed', 'disabled']) await makeTool(pool, name)
  await makeTool(pool, 'broken', { image: 'error' })
  await makeTool(pool, 'building', { image: 'building' })
  await pool.query("update tools set removed_at = now() where name = 'removed'")
  await pool.query("update tools set enabled = false where name = 'disabled'")
  const submitTo = async (tool: string) => codeOf(await submit(submissionOf({ tool })))
  const names = ['nowhere', 'removed', 'disabled', 'broken', 'building']
  assert.deepEqual(await Promise.all(names.map(submitTo)), [
    'unknown_tool',
    'unknown_tool',
    'tool_disabled',
    'image_failed',
    'accepted',
  ])
  await pool.query("update switches set is_on = false where name = 'tools_enabled'")
  assert.equal(await submitTo('weather'), 'tools_disabled')
  await pool.query("delete from switches where name = 'tools_enabled'")
  assert.equal(await submitTo('weather'), 'tools_disabled', 'no switch means no (I9)')
  await pool.query("insert into switches values ('tools_enabled', true)")
  assert.equal(await submitTo('weather'), 'accepted')
})

test('what was judged by another version than the tool has now is refused, and nothing of it is kept', async () => {
  const { submit } = createSubmitter(deps)
  const { rows } = await pool.query<{ hash: string }>(
    "select wanted_hash as hash from tools where name = 'weather'",
  )
  const idempotency = { key: 'judged', bodyHash: Buffer.alloc(32) }
  const judgedBy = async (checkedHash: string | undefined) =>
    codeOf(await submit(submissionOf({ checkedHash, idempotency })))
  assert.equal(await judgedBy('another'), 'tool_changed')
  assert.equal(await judgedBy(rows[0]?.hash), 'accepted')
  assert.equal(await judgedBy('another'), 'accepted', 'the same request again')
})

test('100 identical requests at once, from four processes, make one invocation', async () => {
  const submitters = Array.from({ length: 4 }, () => createSubmitter(deps))
  const answers = await Promise.all(
    Array.from({ length: 25 }, () => submitters.map(({ submit }) => submit(keyed('same', 'a')))).flat(),
  )
  const accepted = answers.flatMap((answer) => (answer.kind === 'accepted' ? [answer] : []))
  assert.equal(accepted.length, 100)
  assert.equal(new Set(accepted.map(idOf)).size, 1)
  assert.equal(accepted.filter((answer) => !answer.replayed).length, 1)
  const stored = await pool.query("select count(*)::int as n from idempotency where key = 'same'")
  assert.equal(stored.rows[0].n, 1)
})

test('a key belongs to its caller, to one body, and for a day', async () => {
  const { submit } = createSubmitter(deps)
  const first = await submit(keyed('k', 'a'))
  const [same, other, stranger] = await Promise.all([
    submit(keyed('k', 'a')),
    submit(keyed('k', 'b')),
    submit(keyed('k', 'b', { keyId: 'k2' })),
  ])
  assert.equal(idOf(same), idOf(first))
  assert.ok(same.kind === 'accepted' && same.replayed)
  assert.equal(codeOf(other), 'idempotency_mismatch')
  assert.equal(codeOf(stranger), 'accepted')
  assert.notEqual(idOf(stranger), idOf(first))
  await pool.query("update idempotency set expires_at = clock_timestamp() where key = 'k'")
  const later = await submit(keyed('k', 'b'))
  assert.ok(later.kind === 'accepted' && !later.replayed)
})

test('of two bodies that come at once with one key, one is accepted', async () => {
  const { submit } = createSubmitter(deps)
  const answers = await Promise.all([submit(keyed('race', 'a')), submit(keyed('race', 'b'))])
  assert.deepEqual(answers.map(codeOf), ['accepted', 'idempotency_mismatch'])
})

test('a refused request is not remembered', async () => {
  const { submit } = createSubmitter(deps)
  const requests = [keyed('no', 'a', { tool: 'nowhere' }), keyed('no', 'a', { tool: 'nowhere' })]
  assert.deepEqual((await Promise.all(requests.map(submit))).map(codeOf), ['unknown_tool', 'unknown_tool'])
  // In the same batch as one that is refused, and with another body.
  const [refused, accepted] = await Promise.all([
    submit(keyed('no', 'a', { tool: 'nowhere' })),
    submit(keyed('no', 'b')),
  ])
  assert.deepEqual([codeOf(refused), codeOf(accepted)], ['unknown_tool', 'accepted'])
})

test('batches that use the same keys and tools in different orders do not wait for each other for ever', async () => {
  await makeTool(pool, 'other')
  const names = Array.from({ length: 40 }, (_, index) => index)
  const submitters = Array.from({ length: 6 }, () => createSubmitter(deps))
  const answers = await Promise.all(
    submitters.flatMap(({ submit }, place) =>
      (place % 2 === 0 ? names : names.toReversed()).map((name) =>
        submit(keyed(`order ${name}`, 'a', { tool: name % 2 === 0 ? 'weather' : 'other' })),
      ),
    ),
  )
  assert.deepEqual(new Set(answers.map(codeOf)), new Set(['accepted']))
  assert.equal(new Set(answers.map(idOf)).size, names.length)
})

test('a full queue refuses with a time to come back, per tool and in all', async () => {
  const other = await testDatabase()
  await makeTool(other.pool, 'full')
  await makeTool(other.pool, 'free')
  await setSlots(other.pool, 4)
  const fill = (tool: string, count: number) =>
    other.pool.query(
      `insert into invocations (id, tool, topic, status, gate, priority, due_at, not_before, expires_at, submitted_hash)
       select 'inv_' || $1 || n, $1, 't', 'queued', 'held', 5, now(), now(), now() + interval '1 h', 'h'
       from generate_series(1, $2) as n`,
      [tool, count],
    )
  await fill('full', queuedPerToolMax - 2)
  const { submit } = createSubmitter({ pool: other.pool, afterCommit: { run: () => {} } })
  const answers = await Promise.all(Array.from({ length: 5 }, () => submit(submissionOf({ tool: 'full' }))))
  assert.deepEqual(answers.map(codeOf).toSorted(), [
    'accepted',
    'accepted',
    'queue_full',
    'queue_full',
    'queue_full',
  ])
  assert.ok(answers.some((answer) => answer.kind === 'refused' && 'retryAfterSeconds' in answer))
  assert.equal(codeOf(await submit(submissionOf({ tool: 'free' }))), 'accepted')
  for (let filler = 0; filler < 9; filler++) await fill(`filler${filler}`, 10_000)
  const fresh = createSubmitter({ pool: other.pool, afterCommit: { run: () => {} } })
  assert.equal(codeOf(await fresh.submit(submissionOf({ tool: 'free' }))), 'queue_full')
})
