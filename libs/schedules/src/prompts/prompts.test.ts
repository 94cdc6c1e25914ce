import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Actor } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import { newPrefixedId } from '@toolyard/contract/ids'
import { transaction } from '@toolyard/db/transaction'
import { testDatabase } from '@toolyard/testkit/database'
import { at, boundKey, operator, waitUntilBlocked } from '../../fixtures/ground.ts'
import { ackPrompt } from './ack-prompt.ts'
import { claimPrompts } from './claim-prompts.ts'
import type { PromptListRequest } from './list-prompts.ts'
import { listPrompts } from './list-prompts.ts'
import type { Priority } from './prompt.ts'
import { writePrompts } from './write-prompts.ts'

const { pool } = await testDatabase()
const someone = operator.actor

let moment = Date.now() - 3_600_000

/** A prompt that waits, of each of these: `tool text priority`. Ids in their order. */
async function leave(...prompts: string[]): Promise<string[]> {
  const made = prompts.map((words) => {
    const [tool = '', text = '', priority = 'normal'] = words.split(' ')
    moment += 1
    return {
      id: newPrefixedId('prm', moment),
      tool,
      invocationId: newPrefixedId('inv'),
      tickAt: at('10:00:00'),
      // safe because the tests write no other words
      priority: priority as Priority,
      text,
    }
  })
  await transaction(pool, (sql) => writePrompts(sql, made))
  return made.map(({ id }) => id)
}

const clear = () => pool.query('truncate prompts')

const expire = (id: string) =>
  pool.query("update prompts set lease_until = clock_timestamp() - interval '1 ms' where id = $1", [id])

const claimOne = async (actor: Actor = someone) => {
  const [claimed] = await claimPrompts(pool, actor)
  assert.ok(claimed, 'there is one')
  return claimed
}

const texts = (prompts: readonly { prompt: string }[]) => prompts.map(({ prompt }) => prompt)

test('the most important come first, and of those the oldest', async () => {
  await clear()
  await leave('a old', 'b low low', 'c urgent critical', 'a new', 'd urgent2 critical')
  assert.deepEqual(texts(await claimPrompts(pool, someone, { limit: 3 })), ['urgent', 'urgent2', 'old'])
  assert.deepEqual(texts(await claimPrompts(pool, someone, { limit: 3 })), ['new', 'low'])
  assert.deepEqual(await claimPrompts(pool, someone, { limit: 3 }), [])
})

test('however many claim at once, each prompt is given to one', async () => {
  await clear()
  const ids = await leave(...Array.from({ length: 30 }, (_, index) => `tool_${index} text${index}`))
  const all = await Promise.all(Array.from({ length: 20 }, () => claimPrompts(pool, someone, { limit: 2 })))
  const given = all.flat().map(({ id }) => id)
  assert.deepEqual(given.toSorted(), ids.toSorted())
})

test('who acknowledges in time is done with it, and may say so twice', async () => {
  await clear()
  await leave('a one')
  const { id, claim, claims, status, claimed_until } = await claimOne()
  assert.deepEqual([claims, status], [1, 'claimed'])
  const leftMs = Date.parse(claimed_until ?? '') - Date.now()
  assert.ok(leftMs > 290_000 && leftMs <= 301_000, `${leftMs} ms`)
  assert.deepEqual(await ackPrompt(pool, someone, { id, claim }), { kind: 'acked' })
  assert.deepEqual(await ackPrompt(pool, someone, { id, claim }), { kind: 'already_acked' })
  assert.deepEqual(await ackPrompt(pool, someone, { id }), { kind: 'already_acked' })
  await expire(id)
  assert.deepEqual(await claimPrompts(pool, someone), [])
})

test('a lease that runs out makes the prompt free, and whoever had it can say nothing any more', async () => {
  await clear()
  const [id = ''] = await leave('a one')
  const first = await claimOne()
  await expire(id)
  assert.deepEqual(
    (await listPrompts(pool, someone, { status: 'waiting' })).prompts.map((one) => [
      one.status,
      one.claimed_until,
      one.claims,
    ]),
    [['waiting', null, 1]],
  )
  assert.deepEqual((await listPrompts(pool, someone, { status: 'claimed' })).prompts, [])
  const second = await claimOne()
  assert.deepEqual([second.id, second.claims], [id, 2])
  assert.notEqual(second.claim, first.claim)
  assert.deepEqual(await ackPrompt(pool, someone, { id, claim: first.claim }), { kind: 'not_held' })
  assert.deepEqual(await ackPrompt(pool, someone, { id, claim: second.claim }), { kind: 'acked' })
  assert.deepEqual(await ackPrompt(pool, someone, { id, claim: first.claim }), { kind: 'not_held' })
})

test('who is late and was not replaced is believed', async () => {
  await clear()
  const [id = ''] = await leave('a one')
  const { claim } = await claimOne()
  await expire(id)
  assert.deepEqual(await ackPrompt(pool, someone, { id, claim }), { kind: 'acked' })
})

test('a prompt that was not claimed, or by another key, or is gone, cannot be acknowledged', async () => {
  await clear()
  const [id = '', other = ''] = await leave('a one', 'b two')
  assert.deepEqual(await ackPrompt(pool, someone, { id }), { kind: 'not_held' })
  await claimPrompts(pool, someone, { tool: 'a' })
  assert.deepEqual(await ackPrompt(pool, boundKey(), { id }), { kind: 'not_held' })
  assert.deepEqual(await ackPrompt(pool, someone, { id, claim: 'not a claim\0' }), { kind: 'not_held' })
  assert.deepEqual(await ackPrompt(pool, someone, { id: other }), { kind: 'not_held' })
  const isGone = (error: unknown) => error instanceof AppError && error.code === 'not_found'
  await assert.rejects(ackPrompt(pool, someone, { id: newPrefixedId('prm') }), isGone)
  await assert.rejects(ackPrompt(pool, someone, { id: 'prm_\0' }), isGone)
})

test('a claimed prompt does not give way to newer ones; when its lease has run out it does', async () => {
  await clear()
  await leave('a first')
  const { id, claim } = await claimOne()
  await leave('a n1', 'a n2', 'a n3', 'a n4', 'a n5')
  assert.equal((await listPrompts(pool, someone, { status: 'superseded' })).prompts.length, 0)
  await expire(id)
  await leave('a n6')
  const gone = await listPrompts(pool, someone, { status: 'superseded' })
  assert.deepEqual(texts(gone.prompts), ['n1', 'first'])
  assert.deepEqual(await ackPrompt(pool, someone, { id, claim }), { kind: 'not_held' })
})

test('a claim and newer prompts at the same instant: what was claimed does not give way', async () => {
  for (let round = 0; round < 10; round++) {
    await clear()
    await leave('a n1', 'a n2', 'a n3', 'a n4', 'a n5')
    const [claimed] = await Promise.all([claimPrompts(pool, someone, { limit: 2 }), leave('a n6', 'a n7')])
    const { prompts } = await listPrompts(pool, someone)
    const count = (status: string) => prompts.filter((one) => one.status === status).length
    for (const one of claimed) assert.equal(prompts.find(({ id }) => id === one.id)?.status, 'claimed')
    assert.ok(
      count('waiting') <= 5 && count('waiting') + count('superseded') === 5,
      JSON.stringify(texts(prompts)),
    )
  }
})

test('newer prompts that waited for a claim to commit leave what was claimed alone', async () => {
  await clear()
  const [id = ''] = await leave('a n1', 'a n2', 'a n3', 'a n4', 'a n5')
  const claiming = await pool.connect()
  await claiming.query('begin')
  await claiming.query(
    `update prompts set status = 'claimed', claim = gen_random_uuid(), claimed_by = 'k',
       lease_until = now() + interval '1 minute' where id = $1`,
    [id],
  )
  const leaving = leave('a n6')
  await waitUntilBlocked(pool)
  await claiming.query('commit')
  claiming.release()
  await leaving
  const { prompts } = await listPrompts(pool, someone, { status: 'claimed' })
  assert.deepEqual(texts(prompts), ['n1'])
})

test('a bound key sees, claims and acknowledges the prompts of its tools, and a topic has none', async () => {
  await clear()
  const [ours = '', theirs = ''] = await leave('a ours', 'b theirs')
  const key = boundKey({ tools: ['a', 'c'] })
  assert.deepEqual(texts((await listPrompts(pool, key)).prompts), ['ours'])
  assert.deepEqual(texts((await listPrompts(pool, key, { status: 'waiting' })).prompts), ['ours'])
  assert.deepEqual((await listPrompts(pool, key, { tool: 'b' })).prompts, [])
  assert.deepEqual(await claimPrompts(pool, key, { tool: 'b' }), [])
  await claimPrompts(pool, someone, { tool: 'b' })
  await assert.rejects(ackPrompt(pool, key, { id: theirs }), AppError)
  assert.deepEqual(
    (await claimPrompts(pool, key, { limit: 10 })).map(({ id }) => id),
    [ours],
  )
  assert.deepEqual(await ackPrompt(pool, key, { id: ours }), { kind: 'acked' })
  const ofTopic = boundKey({ topics: ['a', 'trip'] })
  assert.deepEqual((await listPrompts(pool, ofTopic)).prompts, [])
  assert.deepEqual(await claimPrompts(pool, ofTopic, { limit: 10 }), [])
})

test('lists come in pages, newest first, whatever they are narrowed to', async () => {
  await clear()
  for (let index = 0; index < 5; index++) await leave(`a a${index}`, `b b${index}`, `c c${index}`)
  const key = boundKey({ tools: ['a', 'b'] })
  const requests: [Actor, PromptListRequest, number][] = [
    [someone, {}, 15],
    [someone, { status: 'waiting' }, 15],
    [someone, { tool: 'b' }, 5],
    [key, {}, 10],
    [key, { status: 'waiting' }, 10],
    [key, { status: 'acked' }, 0],
  ]
  for (const [actor, request, total] of requests) {
    const found = []
    let cursor: string | undefined
    do {
      const page = await listPrompts(pool, actor, { ...request, cursor, limit: 4 })
      assert.ok(page.prompts.length <= 4)
      found.push(...page.prompts.map(({ id }) => id))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    assert.equal(found.length, total, JSON.stringify(request))
    assert.deepEqual(found, found.toSorted().toReversed())
    assert.equal(new Set(found).size, total)
  }
})

test('what cannot be meant is refused with where it is wrong', async () => {
  const pointersOf = (work: Promise<unknown>) =>
    work.then(
      () => [],
      (error: unknown) => (error instanceof AppError ? error.faults.map(({ pointer }) => pointer) : [error]),
    )
  assert.deepEqual(await pointersOf(claimPrompts(pool, someone, { limit: 0, leaseSeconds: 3_601 })), [
    '/limit',
    '/lease_seconds',
  ])
  assert.deepEqual(await pointersOf(claimPrompts(pool, someone, { limit: 1.5 })), ['/limit'])
  assert.deepEqual(await pointersOf(listPrompts(pool, someone, { limit: 201, cursor: 'inv_1' })), [
    '/limit',
    '/cursor',
  ])
  assert.deepEqual(await claimPrompts(pool, someone, { tool: 'a\0' }), [])
})
