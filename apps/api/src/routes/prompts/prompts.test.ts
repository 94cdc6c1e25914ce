import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPrefixedId } from '@toolyard/contract/ids'
import { ackedPromptShape, claimedPromptShape, promptShape } from '@toolyard/contract/prompts'
import { scopes } from '@toolyard/contract/scopes'
import { makeGround, succeeded } from '@toolyard/schedules/fixtures/ground'
import { reconcile } from '@toolyard/schedules/reconcile'
import { z } from 'zod'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { assertAsksFor, assertRefusesBodies, callerOf } from '../../fixtures/caller.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'

const ground = await makeGround()
const { pool, database } = ground
const api = await testApi({ databaseUrl: database.url })
const admin = await makeKey(pool, { scopes: [...scopes] })

const page = z.strictObject({ prompts: z.array(promptShape.strict()), next_cursor: z.string().nullable() })
const claimed = z.strictObject({ prompts: z.array(claimedPromptShape.strict()) })
const acked = ackedPromptShape.strict()

const call = callerOf(api.url, admin.token)

const claim = async (body?: object, token = admin.token) =>
  (await bodyOf(await call('POST', '/prompts/claim', body, token), claimed)).prompts

const list = async (query = '', token = admin.token) =>
  bodyOf(await call('GET', `/prompts${query}`, undefined, token), page)

const ack = (id: string, body?: object, token = admin.token) =>
  call('POST', `/prompts/${id}/ack`, body, token)

const insertPrompt = `
  insert into prompts (id, tool, invocation_id, tick_at, priority, text)
  values ($1, $2, $3, clock_timestamp(), $4, $5)`

/** As a run leaves it; 0 is critical, 2 low. */
async function leavePrompt(tool: string, priority = 1): Promise<string> {
  const id = newPrefixedId('prm')
  await pool.query(insertPrompt, [id, tool, newPrefixedId('inv'), priority, `of ${tool}`])
  return id
}

test('what a run leaves is claimed once, acknowledged, and not given again', async () => {
  await ground.makeCron('overdue', {
    schedule: '0 0 29 2 *',
    prompt: 'Check for any overdue reminders and summarize them:',
  })
  await reconcile(ground.deps, new Date())
  const answer = z
    .looseObject({ invocation_id: z.string() })
    .parse(await (await call('POST', '/schedules/overdue/trigger')).json())
  await ground.end(answer.invocation_id, succeeded({ priority: 'critical' }))
  const [mine, ...others] = await claim()
  assert.ok(mine !== undefined && others.length === 0)
  assert.deepEqual(
    [mine.tool, mine.priority, mine.status, mine.claims, mine.invocation_id],
    ['overdue', 'critical', 'claimed', 1, answer.invocation_id],
  )
  assert.equal(
    mine.prompt,
    'Check for any overdue reminders and summarize them:\n\n--- Tool Data ---\nthree are overdue',
  )
  assert.ok(Math.abs(Date.parse(mine.claimed_until ?? '') - Date.now() - 300_000) < 60_000)
  assert.deepEqual(await claim({ tool: 'overdue' }), [])
  const done = { id: mine.id, already: false }
  assert.deepEqual(await bodyOf(await ack(mine.id, { claim: mine.claim }), acked), done)
  assert.deepEqual(await bodyOf(await ack(mine.id), acked), { ...done, already: true })
  assert.deepEqual(
    (await list('?status=acked')).prompts.map(({ id }) => id),
    [mine.id],
  )
})

test('prompts are claimed by priority, then age, as many as are wanted, for as long as is wanted', async () => {
  const low = await leavePrompt('order', 2)
  const normal = [await leavePrompt('order'), await leavePrompt('order')]
  const critical = await leavePrompt('order', 0)
  const given = await claim({ tool: 'order', limit: 3, lease_seconds: 60 })
  assert.deepEqual(
    given.map(({ id }) => id),
    [critical, ...normal],
  )
  assert.ok(given.every(({ claimed_until: until }) => Date.parse(until ?? '') < Date.now() + 90_000))
  assert.deepEqual(
    (await claim({ tool: 'order', limit: 100 })).map(({ id }) => id),
    [low],
  )
  for (const [body, pointer] of [
    [{ limit: 0 }, '/limit'],
    [{ limit: 101 }, '/limit'],
    [{ limit: 1.5 }, '/limit'],
    [{ lease_seconds: 3_601 }, '/lease_seconds'],
    [{ tool: 'No Tool' }, '/tool'],
    [{ all: true }, '/all'],
  ] as const) {
    const { status, faults } = await problemOf(await call('POST', '/prompts/claim', body))
    assert.deepEqual([status, faults?.[0]?.pointer], [422, pointer])
  }
})

test('whoever does not hold a prompt cannot acknowledge it', async () => {
  const id = await leavePrompt('held')
  assert.equal(await refusalOf(await ack(id)), '409 not_claimed')
  const [first] = await claim({ tool: 'held' })
  const other = await makeKey(pool, { scopes: ['prompts:consume'] })
  assert.equal(await refusalOf(await ack(id, {}, other.token)), '409 not_claimed')
  assert.equal(await refusalOf(await ack(id, { claim: first?.claim }, other.token)), '409 not_claimed')
  for (const wrong of ['', 'x', '00000000-0000-0000-0000-000000000000', '\u0000'])
    assert.equal(await refusalOf(await ack(id, { claim: wrong })), '409 not_claimed')
  // Its lease runs out, and somebody else has it.
  await pool.query("update prompts set lease_until = clock_timestamp() - interval '1 s' where id = $1", [id])
  assert.equal((await list('?tool=held&status=waiting')).prompts[0]?.id, id)
  const [second] = await claim({ tool: 'held' }, other.token)
  assert.deepEqual([second?.id, second?.claims], [id, 2])
  assert.equal(await refusalOf(await ack(id, { claim: first?.claim })), '409 not_claimed')
  assert.equal((await ack(id, { claim: second?.claim }, other.token)).status, 200)
  for (const unknown of [newPrefixedId('prm'), 'x', '%00', 'x'.repeat(100)])
    assert.equal(await refusalOf(await ack(unknown)), '404 not_found', unknown)
})

test('lists come in pages, newest first', async () => {
  const made = [await leavePrompt('paged'), await leavePrompt('paged'), await leavePrompt('paged')]
  const first = await list('?tool=paged&limit=2')
  const rest = await list(`?tool=paged&limit=2&cursor=${first.next_cursor}`)
  assert.deepEqual(
    [...first.prompts, ...rest.prompts].map(({ id }) => id),
    made.toSorted().toReversed(),
  )
  assert.equal(rest.next_cursor, null)
  for (const query of ['limit=0', 'cursor=x', 'cursor=%00', 'status=done', 'tool=No', 'all=1'])
    assert.equal(await refusalOf(await call('GET', `/prompts?${query}`)), '422 invalid_request', query)
})

test('a key has the prompts of its tools alone, and none when it is bound to topics', async () => {
  const own = await leavePrompt('mine')
  const foreign = await leavePrompt('theirs')
  const consume = { scopes: ['prompts:consume' as const] }
  const ofTool = await makeKey(pool, { ...consume, tools: ['mine'] })
  const ofTopic = await makeKey(pool, { ...consume, topics: ['mine'] })
  assert.deepEqual(
    (await list('', ofTool.token)).prompts.map(({ id }) => id),
    [own],
  )
  assert.deepEqual((await list('', ofTopic.token)).prompts, [])
  assert.deepEqual((await list('?tool=theirs', ofTool.token)).prompts, [])
  assert.deepEqual(await claim({ limit: 100 }, ofTopic.token), [])
  assert.deepEqual(await claim({ limit: 100, tool: 'theirs' }, ofTool.token), [])
  assert.equal(await refusalOf(await ack(foreign, {}, ofTool.token)), '404 not_found')
  assert.equal(await refusalOf(await ack(own, {}, ofTopic.token)), '404 not_found')
  assert.deepEqual(
    (await claim({ limit: 100 }, ofTool.token)).map(({ id }) => id),
    [own],
  )
})

test('each route asks for its scope, and reads no body that is none or too large', async () => {
  const { token } = await makeKey(pool, { scopes: scopes.filter((scope) => scope !== 'prompts:consume') })
  for (const [method, path] of [
    ['GET', '/prompts'],
    ['POST', '/prompts/claim'],
    ['POST', '/prompts/x/ack'],
  ] as const) {
    await assertAsksFor(call, token, [method, path])
    if (method === 'GET') continue
    await assertRefusesBodies(call, method, path)
  }
})
