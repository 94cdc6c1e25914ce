import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLessons } from './create-lessons.ts'
import type { Lesson } from './lesson.ts'
import { lessonWeight } from './lesson.ts'

const lesson = (part: Partial<Lesson>): Lesson => ({
  id: 'l',
  tool: 'a',
  topic: null,
  atMs: 0,
  reward: 0.3,
  terms: [],
  vector: null,
  ...part,
})

test('a usual end weighs 1, an external failure a quarter, and nothing more than 2', () => {
  const weights = [0.3, -0.2, -0.05, 1, -1, 0].map((reward) => lessonWeight({ reward }))
  assert.deepEqual(weights, [1, 1, 0.25, 2, 2, 0])
})

test('topics that learn nothing for longest give way, and what they knew is gone', () => {
  const lessons = createLessons()
  for (let i = 0; i <= 500; i += 1) lessons.learn(lesson({ topic: `t${i}` }))
  assert.equal(lessons.ofTopic('t0').size, 0)
  assert.equal(lessons.ofTopic('t1').size, 1)
  assert.equal(lessons.ofTopic('t500').size, 1)
})

test('what happens in one topic is not seen in the state of another', () => {
  const lessons = createLessons()
  lessons.learn(lesson({ topic: 'mine' }))
  const before = { ...lessons.stateOf('mine') }
  lessons.learn(lesson({ topic: 'other' }))
  lessons.forget({ topic: 'other' })
  assert.deepEqual({ ...lessons.stateOf('mine') }, { ...before })
  lessons.forget({ topic: 'mine', beforeMs: 0 })
  lessons.forget({ topic: 'mine', keeping: new Set(['l']) })
  assert.deepEqual({ ...lessons.stateOf('mine') }, { ...before }, 'nothing went')
  lessons.forget({ topic: 'mine', beforeMs: 1 })
  assert.notEqual(lessons.stateOf('mine').forgotten, before.forgotten)
})

test('a reward that is no number is refused, a long query is cut', () => {
  const lessons = createLessons()
  assert.throws(() => lessons.learn(lesson({ reward: Number.NaN })), RangeError)
  assert.equal(lessons.ofTopic(null).size, 0)
  lessons.learn(lesson({ terms: Array.from({ length: 5_000 }, (_, i) => `w${i}`) }))
  assert.equal(lessons.ofTopic(null).get('a')?.successes[0]?.terms.length, 64)
})

test('a lesson older than all that are kept of a full tool teaches nothing', () => {
  const lessons = createLessons()
  for (let i = 1; i <= 64; i += 1) lessons.learn(lesson({ id: `${i}`, atMs: i }))
  lessons.learn(lesson({ id: 'late', atMs: 0 }))
  assert.ok(
    !lessons
      .ofTopic(null)
      .get('a')
      ?.successes.some(({ id }) => id === 'late'),
  )
})
