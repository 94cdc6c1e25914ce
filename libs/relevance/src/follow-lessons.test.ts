import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { openMeanings } from '../fixtures/meanings.ts'
import { createSearcher } from './create-searcher.ts'
import { followLessons } from './follow-lessons.ts'
import { forgetLessons } from './rows/forget-lessons.ts'
import { firstHorizon, readChanges } from './rows/read-lessons.ts'
import { trimLessons } from './rows/trim-lessons.ts'

const { pool } = await testDatabase()
const { embedder } = openMeanings()

type Bounds = { bytesMax?: number; monotonicMs?: () => number }

function openFollower(bounds: Bounds = {}) {
  const searcher = createSearcher(embedder)
  const text = { name: 'radio', description: 'music', parameters: [], examples: [] }
  searcher.setTools([text], new Map())
  const follow = followLessons({ pool, searcher, dimensions: embedder.dimensions, ...bounds })
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
    "with gone as (delete from lessons where topic = 'taken') insert into lesson_topics (topic) values ('taken')",
  )
  assert.equal(await knows('taken'), false)
})

test('after feedback a process knows what the database does, though a lesson was trimmed away between', async () => {
  const put = (id: string, query: string, second: number) =>
    pool.query(
      `insert into lessons (invocation_id, search_id, tool, topic, query, reward, learned_at)
       values ($1, 's', 'radio', 'trimmed', $2, 0.3, now() + $3 * interval '1 second')`,
      [id, query, second],
    )
  await put('t00', 'cheer me', 0)
  for (let i = 1; i < 64; i += 1) await put(`t${i}`, 'other words', i)
  const knows = openFollower()
  assert.equal(await knows('trimmed'), true)
  await put('t64', 'other words', 64)
  await trimLessons(pool, [{ tool: 'radio', topic: 'trimmed' }])
  await pool.query(
    "update lessons set reward = -1, changed_by = pg_current_xact_id() where invocation_id = 't64'",
  )
  assert.deepEqual([await knows('trimmed'), await openFollower()('trimmed')], [false, false])
})

test('what was forgotten of one topic makes no process read another again', async () => {
  await teach('quiet', 'i6')
  await teach('loud', 'i7')
  const knows = openFollower()
  assert.deepEqual([await knows('quiet'), await knows('loud')], [true, true])
  const before = await readChanges(pool, 'quiet', firstHorizon)
  const call = { actor: { kind: 'operator' } } as const
  assert.equal(await forgetLessons(pool, call, { tool: 'radio', topic: 'loud' }), 1)
  assert.equal(await forgetLessons(pool, call, { tool: 'none' }), 0)
  assert.equal(await forgetLessons(pool, call, { topic: 'quiet', tool: 'none' }), 0)
  assert.equal((await readChanges(pool, 'quiet', firstHorizon)).forgotten, before.forgotten)
  assert.deepEqual([await knows('quiet'), await knows('loud')], [true, false])
})

test('more lessons than there is room for give way by topic, and are read again when they are asked for', async () => {
  await teach('room a', 'i8')
  await teach('room b', 'i9')
  const knows = openFollower({ bytesMax: 1 })
  for (const topic of ['room a', 'room b', 'room a', 'room a']) assert.equal(await knows(topic), true)
})

test('a topic that nobody asked for in a day is read anew', async () => {
  let nowMs = 0
  await teach('idle', 'i10')
  const knows = openFollower({ monotonicMs: () => nowMs })
  assert.equal(await knows('idle'), true)
  // As when the note of it has gone by its age.
  await pool.query("delete from lessons where topic = 'idle'")
  assert.equal(await knows('idle'), true)
  nowMs += 86_400_001
  assert.equal(await knows('idle'), false)
})
