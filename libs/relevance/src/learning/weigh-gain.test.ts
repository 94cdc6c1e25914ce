import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBaseIndex } from '../score/base-index.ts'
import { analyze } from '../text/analyze.ts'
import { learnFrom } from './learn-from.ts'
import type { Lesson } from './lesson.ts'
import { ownness, reliance, weighGain } from './weigh-gain.ts'

const base = createBaseIndex(2)
base.setTool({ name: 'a', description: 'x', parameters: [], examples: [] }, [Float32Array.of(1, 1)])

const [north, east] = [Float32Array.of(0, 1), Float32Array.of(1, 0)]

const lessonsOf = (rewards: readonly number[], vector: Float32Array | null, text = ''): Lesson[] =>
  rewards.map((reward, i) => ({
    id: `l${i}`,
    tool: 'a',
    topic: null,
    atMs: i,
    reward,
    terms: analyze(text),
    vector,
  }))

function learnedOf(lessons: readonly Lesson[]) {
  const successes = lessons.filter(({ reward }) => reward > 0)
  const failures = lessons.filter(({ reward }) => reward < 0)
  return learnFrom({ successes, failures }, 'a', base)
}
const ask = (vector: Float32Array | null, text = '') => ({ vector, terms: analyze(text) })

test('what was learned counts less with every failure at queries like it, and more again with every success', () => {
  const rely = (rewards: readonly number[], query = ask(north)) =>
    Number(reliance(learnedOf(lessonsOf(rewards, north)), query).toFixed(6))
  assert.equal(rely([0.3, 0.3]), 1)
  assert.equal(rely([0.3, -0.2]), 0.8)
  assert.equal(rely([0.3, -0.2, -0.2]), 0.64)
  assert.equal(rely([-0.2, 0.3]), 0.84, 'the same two the other way round')
  assert.equal(rely([0.3, -0.05]), 0.95, 'a failure that lay outside')
  assert.equal(rely([0.3, ...Array.from({ length: 30 }, () => -1)]) < 0.01, true)
  assert.equal(rely([0.3, -0.2], ask(east)), 1, 'of another kind of query')
})

test('without vectors the words say how like queries are', () => {
  const learned = learnedOf(lessonsOf([0.3, -0.2], null, 'rain tomorrow'))
  assert.equal(reliance(learned, ask(null, 'rain tomorrow')), 0.8)
  assert.equal(reliance(learned, ask(north, 'rain tomorrow')), 0.8)
  assert.equal(reliance(learned, ask(null, 'share price')), 1)
  assert.deepEqual(
    ['rain tomorrow', 'price tomorrow', ''].map((text) => ownness(learned, ask(null, text))),
    [1, 0, 0],
  )
})

test('a query is the tool’s own the nearer it is to one that it has answered', () => {
  const learned = learnedOf([...lessonsOf([0.3], north), ...lessonsOf([-0.2], east)])
  const at = (degrees: number) => {
    const turned = (degrees * Math.PI) / 180
    return Number(ownness(learned, ask(Float32Array.of(Math.sin(turned), Math.cos(turned)))).toFixed(2))
  }
  // cosines 1, 0.77, 0.6, 0.5, 0: failures are nobody's own
  assert.deepEqual([0, 40, 53.13, 60, 90].map(at), [1, 1, 0.5, 0, 0])
})

test('for its own queries a tool loses no more than it gained, for others all that is to be taken off', () => {
  const learned = learnedOf(lessonsOf([0.3], north))
  const weigh = (vector: Float32Array, gain: number) =>
    weighGain(learned, ask(vector), { gain, correction: 0.5 })
  assert.deepEqual(weigh(north, 0.3), { learned: 0.3, correction: 0.3 })
  assert.deepEqual(weigh(east, 0.3), { learned: 0.3, correction: 0.5 })
  assert.deepEqual(weigh(north, 0.8), { learned: 0.8, correction: 0.5 })
  assert.deepEqual(weigh(north, -0.1), { learned: -0.1, correction: 0 })
})
