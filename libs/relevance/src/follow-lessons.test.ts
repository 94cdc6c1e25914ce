import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { openMeanings } from '../fixtures/meanings.ts'
import { createSearcher } from './create-searcher.ts'
import { followLessons } from './follow-lessons.ts'

const { pool } = await testDatabase()
const { embedder } = openMeanings()

function openFollower() {
  const searcher = createSearcher(embedder)
  const text = { name: 'radio', description: 'music', parameters: [], examples: [] }
  searcher.setTools([text], new Map())
  const follow = followLessons({ pool, searcher, dimensions: embedder.dimensions })
  return async (topic: string) => {
    await follow(topic)
    const { hits } = searcher.search({ query: 'cheer me', vector: null, topic })
    return (hits[0]?.learned ?? 0) > 0
  }
}

const teach = (topic: string, id: string) =>
  pool.query(
    `insert into lessons (invocation_id, search_id, tool, topic, query, reward) values ($1, 's', 'radio', $2, 'cheer me', 0.3)`,
    [id, topic],
  )

test('what another process has learned is known with the next question, also by those who ask at once', async () => {
  const knows = openFollower()
  assert.equal(await knows('new'), false)
  const early = knows('new')
  await teach('new', 'i1')
  const late = [knows('new'), knows('new')]
  await early
  assert.deepEqual(await Promise.all(late), [true, true])
})

test('a topic that gave way to others is read again, and what was forgotten meanwhile is not', async () => {
  await teach('stays', 'i2')
  await teach('goes', 'i3')
  const knows = openFollower()
  assert.deepEqual([await knows('stays'), await knows('goes')], [true, true])
  for (let i = 0; i < 201; i += 1) await knows(`other ${i}`)
  await pool.query("delete from lessons where topic = 'goes'")
  assert.deepEqual([await knows('stays'), await knows('goes')], [true, false])
})

test('what was taken away is forgotten as soon as it is said', async () => {
  await teach('taken', 'i4')
  await teach('taken', 'i5')
  const knows = openFollower()
  assert.equal(await knows('taken'), true)
  await pool.query(
    "with gone as (delete from lessons where topic = 'taken') update lesson_state set forgotten = forgotten + 1",
  )
  assert.equal(await knows('taken'), false)
})
