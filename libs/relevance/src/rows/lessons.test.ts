import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPool } from '@toolyard/db/pool'
import type { Attempt } from '@toolyard/invocations/claim'
import type { Within } from '@toolyard/invocations/close-rows'
import { finish, finishAll } from '@toolyard/invocations/finish'
import { engineGone, failure, success } from '@toolyard/invocations/fixtures/outcomes'
import { keyActor, makeTool, makeWorld, operator, runningOne } from '@toolyard/invocations/fixtures/world'
import { giveFeedback } from '@toolyard/invocations/give-feedback'
import type { GivenFeedback } from '@toolyard/invocations/give-feedback'
import { recordFeedback } from '@toolyard/memory/record-feedback'
import { recordOutcomes } from '@toolyard/memory/record-outcomes'
import type { Sql } from '@toolyard/db/pool'
import { correctLesson } from './correct-lesson.ts'
import { forgetLessons } from './forget-lessons.ts'
import { keepSearch } from './keep-search.ts'
import { pruneLessons } from './prune-lessons.ts'
import { firstHorizon, readChanges, readLessons } from './read-lessons.ts'
import { recordLessons } from './record-lessons.ts'

const { database, pool, deps } = await makeWorld()
const wide = createPool({
  url: database.url,
  max: 50,
  applicationName: 'lessons-test',
  onIdleError: () => {},
})
after(() => wide.end())

const within: Within = async (sql, closed) => {
  await recordOutcomes(sql, closed)
  await recordLessons(sql, closed)
}
const weigh = async (sql: Sql, given: GivenFeedback) => {
  await recordFeedback(sql, given)
  await correctLesson(sql, given)
}

type Searched = { tool?: string; topic?: string; keyId?: string; query?: string }

const search = ({ topic = 'trip', keyId = 'k1', query = 'rain tomorrow' }: Searched = {}) =>
  keepSearch(pool, { keyId, topic, query, vector: Float32Array.of(1, 0.5), modelId: 'm' })

async function runSearched(searched: Searched = {}): Promise<Attempt> {
  const { tool = 'weather', topic = 'trip', keyId = 'k1' } = searched
  return runningOne(deps, { tool, topic, keyId, searchId: await search(searched) })
}

const end = (hold: Attempt, outcome: Parameters<typeof finish>[1]['outcome'] = success) =>
  finish({ ...deps, pool: wide }, { hold, outcome, within })

const lessonsOf = async (tool: string) => {
  const { rows } = await pool.query<{ id: string; topic: string; query: string; reward: number }>(
    'select invocation_id as id, topic, query, reward from lessons where tool = $1 order by learned_at, id',
    [tool],
  )
  return rows
}
const countOf = async (table: string, where = 'true') => {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer from ${table} where ${where}`,
  )
  return rows[0]?.count
}

test('an outcome is a lesson once, with the words that led to it and the vector as it was', async () => {
  await makeTool(pool, 'once')
  const hold = await runSearched({ tool: 'once' })
  await end(hold)
  assert.deepEqual(await lessonsOf('once'), [
    { id: hold.id, topic: 'trip', query: 'rain tomorrow', reward: 0.3 },
  ])
  const again = await end(hold)
  assert.ok(again.kind === 'closed' && again.isRepeated)
  assert.equal((await lessonsOf('once')).length, 1)
  const [lesson] = await readLessons(pool, [hold.id], 2)
  assert.deepEqual([lesson?.vector, lesson?.modelId], [Float32Array.of(1, 0.5), 'm'])
  for (const dimensions of [1, 4])
    assert.equal((await readLessons(pool, [hold.id], dimensions))[0]?.vector, null, 'of other dimensions')
})

test('a finish that is rolled back teaches nothing', async () => {
  await makeTool(pool, 'undone')
  const hold = await runSearched({ tool: 'undone' })
  const broken: Within = async (sql, closed) => {
    await within(sql, closed)
    throw new Error('no')
  }
  await assert.rejects(finish(deps, { hold, outcome: success, within: broken }), /no/)
  assert.deepEqual(await lessonsOf('undone'), [])
  await end(hold)
  assert.equal((await lessonsOf('undone')).length, 1)
})

test('the search of another key, of another topic, or of nobody teaches nothing', async () => {
  await makeTool(pool, 'foreign')
  const foreign = await search({ keyId: 'k2', query: 'a secret' })
  const elsewhere = await search({ topic: 'other' })
  const ids = [foreign, elsewhere, 'srch_none', 'x', "' or true --"]
  for (const searchId of ids) await end(await runningOne(deps, { tool: 'foreign', searchId }))
  await end(await runningOne(deps, { tool: 'foreign', searchId: foreign, keyId: null }))
  assert.deepEqual(await lessonsOf('foreign'), [])
})

test('what does not count teaches nothing', async () => {
  await makeTool(pool, 'uncounted')
  await end(await runSearched({ tool: 'uncounted' }), engineGone)
  await end(await runSearched({ tool: 'uncounted' }), {
    ...failure,
    failure: { ...failure.failure, class: 'caller' },
  })
  assert.deepEqual(await lessonsOf('uncounted'), [])
  await end(await runSearched({ tool: 'uncounted' }), failure)
  assert.deepEqual(
    (await lessonsOf('uncounted')).map(({ reward }) => reward),
    [-0.2],
  )
})

test('fifty finishes of one tool at once, each repeated: fifty lessons and no deadlock', async () => {
  await makeTool(pool, 'busy')
  const holds: Attempt[] = []
  for (let i = 0; i < 50; i += 1) holds.push(await runSearched({ tool: 'busy', topic: `t${i % 3}` }))
  await Promise.all([...holds, ...holds].map((hold) => end(hold)))
  const lessons = await lessonsOf('busy')
  assert.deepEqual(lessons.map(({ id }) => id).toSorted(), holds.map(({ id }) => id).toSorted())
})

test('batches of several tools, feedback and forgetting at once: nobody waits in a circle', async () => {
  const tools = ['ant', 'bee', 'cow']
  for (const tool of tools) await makeTool(pool, tool)
  const holds: Attempt[] = []
  for (let i = 0; i < 48; i += 1) holds.push(await runSearched({ tool: tools[i % 3] ?? '' }))
  const judged = holds.slice(0, 12)
  await Promise.all(judged.map((hold) => end(hold)))
  const rest = holds.slice(12)
  const batches = Array.from({ length: 6 }, (_, i) => rest.slice(i * 6, i * 6 + 6).toReversed())
  await Promise.all([
    ...batches.map((batch) =>
      finishAll(
        { ...deps, pool: wide },
        batch.map((hold) => ({ hold, outcome: failure })),
        { within },
      ),
    ),
    ...judged.map(({ id }) => giveFeedback(wide, operator, { id, feedback: -1, within: weigh })),
    ...tools.map((tool) => forgetLessons(wide, { actor: operator }, { tool })),
    forgetLessons(wide, { actor: operator }, { topic: 'trip' }),
    pruneLessons(wide, 1),
  ])
  assert.equal(await countOf('invocations', "tool in ('ant', 'bee', 'cow') and gate = 'closed'"), 48)
  assert.equal(await countOf('invocations', 'feedback = -1'), 12)
  for (const tool of tools) await forgetLessons(pool, { actor: operator }, { tool })
  assert.equal(await countOf('lessons', "tool in ('ant', 'bee', 'cow')"), 0)
})

test('the newest 64 successes and 64 failures of a tool in a topic are kept, whoever writes them', async () => {
  await makeTool(pool, 'full')
  const holds: Attempt[] = []
  for (let i = 0; i < 70; i += 1) holds.push(await runSearched({ tool: 'full', query: `query ${i}` }))
  const other = await runSearched({ tool: 'full', topic: 'other' })
  await end(other)
  for (const hold of holds) await end(hold)
  const kept = await lessonsOf('full')
  assert.deepEqual(
    kept.map(({ id }) => id),
    [other, ...holds.slice(6)].map(({ id }) => id),
  )
  await end(await runSearched({ tool: 'full' }), failure)
  assert.equal((await lessonsOf('full')).length, 66)
  for (const { id } of holds.slice(-2))
    await giveFeedback(pool, operator, { id, feedback: -1, within: weigh })
  assert.equal((await lessonsOf('full')).length, 66, 'two successes have become failures')
})

test('feedback takes the place of the reward, and brings back nothing that was forgotten', async () => {
  await makeTool(pool, 'judged')
  const [first, second] = [await runSearched({ tool: 'judged' }), await runSearched({ tool: 'judged' })]
  for (const hold of [first, second]) await end(hold)
  const before = await readChanges(pool, 'trip', firstHorizon)
  const give = (id: string, feedback: number) => giveFeedback(pool, operator, { id, feedback, within: weigh })
  await give(first.id, -0.5)
  assert.deepEqual(
    (await lessonsOf('judged')).map(({ reward }) => reward),
    [-0.5, 0.3],
  )
  const { changed } = await readChanges(pool, 'trip', before.horizon)
  assert.notEqual(changed.get(first.id), before.changed.get(first.id))
  assert.equal((await give(first.id, 1)).kind, 'already_given')
  await forgetLessons(pool, { actor: operator }, { tool: 'judged' })
  await give(second.id, 1)
  assert.deepEqual(await lessonsOf('judged'), [])
})

test('a lesson whose transaction is still open is not passed over by a reader', async () => {
  await makeTool(pool, 'slow')
  const [slow, quick] = [await runSearched({ tool: 'slow' }), await runSearched({ tool: 'slow', topic: 'q' })]
  const written = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const holdingUp: Within = async (sql, closed) => {
    await recordLessons(sql, closed)
    written.resolve()
    await goOn.promise
  }
  const finishing = finish({ ...deps, pool: wide }, { hold: slow, outcome: success, within: holdingUp })
  await written.promise
  await finish(deps, { hold: quick, outcome: success, within: recordLessons })
  const early = await readChanges(pool, 'trip', firstHorizon)
  assert.equal(early.changed.has(slow.id), false)
  goOn.resolve()
  await finishing
  const late = await readChanges(pool, 'trip', early.horizon)
  assert.equal(late.changed.has(slow.id), true)
})

test('what is forgotten is gone, with the words that were searched for, and it is said who did it', async () => {
  await makeTool(pool, 'gone')
  const hold = await runSearched({ tool: 'gone', topic: 'private', query: 'my illness' })
  await end(hold)
  await search({ topic: 'private', query: 'my illness again' })
  const before = await readChanges(pool, 'private', firstHorizon)
  const call = { actor: keyOf(['tools:manage']), requestId: 'r1' }
  assert.equal(await forgetLessons(pool, call, { topic: 'private' }), 1)
  for (const table of ['lessons', 'searches'])
    assert.equal(await countOf(table, "query like 'my illness%'"), 0, table)
  const later = await readChanges(pool, 'private', before.horizon)
  assert.notEqual(later.forgotten, before.forgotten)
  const { rows } = await pool.query(
    "select actor, target, detail, request_id from audit where action = 'lessons.forget' order by id desc limit 1",
  )
  assert.deepEqual(rows, [
    { actor: 'key:k9', target: 'topic:private', detail: { topic: 'private', count: 1 }, request_id: 'r1' },
  ])
  // A call that is still under way had been searched for before.
  assert.equal(await forgetLessons(pool, call, { topic: 'private' }), 0)
})

const keyOf = (scopes: 'tools:manage'[], bindings: { topics?: string[]; tools?: string[] } = {}) => {
  const { kind, key } = keyActor(bindings)
  return { kind, key: { ...key, scopes } }
}

test('a key forgets within its bindings alone, and with its scope', async () => {
  await makeTool(pool, 'shared')
  await makeTool(pool, 'hidden')
  for (const tool of ['shared', 'hidden'])
    for (const topic of ['mine', 'theirs']) await end(await runSearched({ tool, topic, keyId: 'k5' }))
  const forget = (actor: ReturnType<typeof keyOf>, what: { tool?: string; topic?: string }) =>
    forgetLessons(pool, { actor }, what)
  await assert.rejects(forget(keyOf([]), { tool: 'shared' }), { code: 'missing_scope' })
  await assert.rejects(forget(keyOf(['tools:manage']), {}), { code: 'invalid_request' })
  const bound = keyOf(['tools:manage'], { topics: ['mine'], tools: ['shared'] })
  await assert.rejects(forget(bound, { tool: 'hidden' }), { code: 'not_found' })
  await assert.rejects(forget(bound, { topic: 'theirs' }), { code: 'not_found' })
  await assert.rejects(forget(bound, { tool: 'shared', topic: 'a\0' }), { code: 'not_found' })
  assert.equal(await forget(bound, { tool: 'shared' }), 1)
  assert.equal(await countOf('lessons', "tool in ('shared', 'hidden')"), 3)
  await end(await runSearched({ tool: 'shared', topic: 'mine' }))
  assert.equal(await forget(bound, { topic: 'mine' }), 1)
  assert.equal(await countOf('lessons', "tool = 'hidden'"), 2)
})

test('lessons, searches and vectors go by their age, and readers are told', async () => {
  await makeTool(pool, 'aged')
  const [old, young] = [await runSearched({ tool: 'aged' }), await runSearched({ tool: 'aged' })]
  for (const hold of [old, young]) await end(hold)
  await pool.query(
    "update lessons set learned_at = learned_at - interval '3 days' where invocation_id = $1",
    [old.id],
  )
  const before = await readChanges(pool, 'trip', firstHorizon)
  const stale = await search()
  await pool.query(
    "update searches set id = 'srch_00' || substr(id, 8), created_at = created_at - interval '8 days' where id = $1",
    [stale],
  )
  await pool.query(
    `insert into text_vectors (model_id, text_hash, vectors, used_at)
     values ('m', 'a', '', clock_timestamp() - interval '31 days'), ('m', 'b', '', clock_timestamp())`,
  )
  const dropped = await pruneLessons(pool, 2)
  assert.deepEqual(dropped, { lessons: 1, searches: 1, vectors: 1 })
  assert.deepEqual(
    (await lessonsOf('aged')).map(({ id }) => id),
    [young.id],
  )
  const { forgotten } = await readChanges(pool, 'trip', before.horizon)
  assert.notEqual(forgotten, before.forgotten)
  await pruneLessons(pool, 2)
  assert.equal((await readChanges(pool, 'trip', before.horizon)).forgotten, forgotten)
})
