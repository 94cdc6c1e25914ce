import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Within } from '@toolyard/invocations/close-rows'
import { finish, finishAll } from '@toolyard/invocations/finish'
import { failure, success } from '@toolyard/invocations/fixtures/outcomes'
import { keyActor, makeTool, makeWorld, operator, runningOne } from '@toolyard/invocations/fixtures/world'
import { giveFeedback } from '@toolyard/invocations/give-feedback'
import { recordFeedback } from '@toolyard/memory/record-feedback'
import { recordOutcomes } from '@toolyard/memory/record-outcomes'
import { keepSearches } from '../keep-searches.ts'
import { correctLesson } from './correct-lesson.ts'
import { forgetLessons } from './forget-lessons.ts'
import { keepSearch } from './keep-search.ts'
import { keepVectors } from './keep-vectors.ts'
import { pruneLessons } from './prune-lessons.ts'
import { readVectors } from './read-vectors.ts'
import { recordLessons } from './record-lessons.ts'
import { trimSearches } from './trim-searches.ts'

const { pool, deps } = await makeWorld()

const within: Within = async (sql, closed) => {
  await recordOutcomes(sql, closed)
  await recordLessons(sql, closed)
}

const searched = { topic: 'trip', query: 'rain tomorrow', vector: Float32Array.of(1, 0.5), modelId: 'm' }
const search = () => keepSearch(pool, { ...searched, keyId: 'k1' })

const rewardsOf = async (tool: string) => {
  const { rows } = await pool.query<{ reward: number }>(
    'select reward from lessons where tool = $1 order by reward',
    [tool],
  )
  return rows.map(({ reward }) => reward)
}
const searchCount = async (keyId: string) => {
  const { rows } = await pool.query('select 1 from searches where key_id = $1', [keyId])
  return rows.length
}

test('a search teaches one success and one failure of each tool, however often they are called', async () => {
  for (const tool of ['echo', 'other']) await makeTool(pool, tool)
  const searchId = await search()
  const run = (tool: string) => runningOne(deps, { tool, topic: 'trip', searchId })
  for (let i = 0; i < 3; i += 1) await finish(deps, { hold: await run('echo'), outcome: success, within })
  assert.deepEqual(await rewardsOf('echo'), [0.3])
  const holds = [await run('echo'), await run('echo'), await run('other'), await run('other')]
  await finishAll(
    deps,
    holds.map((hold, i) => ({ hold, outcome: i < 2 ? failure : success })),
    { within },
  )
  assert.deepEqual([await rewardsOf('echo'), await rewardsOf('other')], [[-0.2, 0.3], [0.3]])
  await finish(deps, {
    hold: await runningOne(deps, { tool: 'other', topic: 'trip', searchId: await search() }),
    outcome: success,
    within,
  })
  assert.deepEqual(await rewardsOf('other'), [0.3, 0.3], 'the next search teaches again')
})

test('feedback that turns a success into a failure makes no room for more', async () => {
  await makeTool(pool, 'turned')
  const searchId = await search()
  for (let i = 0; i < 4; i += 1) {
    const hold = await runningOne(deps, { tool: 'turned', topic: 'trip', searchId })
    await finish(deps, { hold, outcome: success, within })
    await giveFeedback(pool, operator, {
      id: hold.id,
      feedback: -1,
      within: async (sql, given) => {
        await recordFeedback(sql, given)
        await correctLesson(sql, given)
      },
    })
  }
  assert.deepEqual(await rewardsOf('turned'), [-1, -1])
})

test('who forgets and who drops what is old wait for each other in turn', async () => {
  for (let round = 0; round < 3; round += 1) {
    await pool.query(
      `insert into lessons (invocation_id, search_id, tool, topic, query, reward, learned_at)
       select 'old' || n, 's', 't' || (n % 7), 'p', 'q', 0.3, now() - interval '400 days' + n * interval '1 second'
       from generate_series(1, 3000) as n`,
    )
    const [dropped, forgotten] = await Promise.all([
      pruneLessons(pool, 90),
      forgetLessons(pool, { actor: operator }, { topic: 'p' }),
    ])
    assert.equal(dropped.lessons + forgotten, 3_000)
  }
})

test('notes of what was forgotten go after a month', async () => {
  await pool.query(
    "insert into lesson_topics (topic, forgotten_at) values ('long ago', now() - interval '31 days'), ('lately', now())",
  )
  await pruneLessons(pool, 90)
  const { rows } = await pool.query("select topic from lesson_topics where topic in ('long ago', 'lately')")
  assert.deepEqual(rows, [{ topic: 'lately' }])
})

test('a key that may call nothing leaves no search behind', async () => {
  const keep = keepSearches(pool)
  const { key } = keyActor({})
  for (const scopes of [['tools:read'], ['tools:read', 'tools:invoke']] as const) {
    const id = await keep({ ...key, id: `of ${scopes.length}`, scopes: [...scopes] }, searched)
    assert.match(id, /^srch_[0-9a-z]{26}$/)
  }
  assert.deepEqual([await searchCount('of 1'), await searchCount('of 2')], [0, 1])
})

test('of the searches of a key the newest are kept, of others all', async () => {
  const ids: string[] = []
  for (let i = 0; i < 7; i += 1) ids.push(await keepSearch(pool, { ...searched, keyId: 'busy' }))
  await keepSearch(pool, { ...searched, keyId: 'calm' })
  await trimSearches(pool, 'busy', 3)
  const { rows } = await pool.query<{ id: string }>(
    "select id from searches where key_id = 'busy' order by id",
  )
  assert.deepEqual(
    rows.map(({ id }) => id),
    ids.toSorted().slice(-3),
  )
  assert.equal(await searchCount('calm'), 1)
})

test('vectors of other dimensions are none, and those made anew take their place (S2)', async () => {
  const long = Float32Array.from({ length: 8 }, (_, i) => i)
  await keepVectors(pool, { modelId: 'm', textHash: 'h', vectors: [long] })
  const read = (dimensions: number) => readVectors(pool, { modelId: 'm', dimensions }, ['h'])
  assert.deepEqual([...(await read(4))], [])
  assert.deepEqual([...(await read(8))], [['h', [long]]])
  await keepVectors(pool, { modelId: 'm', textHash: 'h', vectors: [long.slice(4)] })
  assert.deepEqual([...(await read(4))], [['h', [Float32Array.of(4, 5, 6, 7)]]])
  assert.deepEqual([...(await read(8))], [])
})
