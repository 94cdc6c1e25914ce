import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBaseIndex } from '../score/base-index.ts'
import { createPostings } from '../score/lexical-index.ts'
import { correctAll, correctOne, drawBackground } from './background.ts'
import { createLessons } from './create-lessons.ts'
import { learnFrom, learnedTerms } from './learn-from.ts'

const taught = fc.record({
  tool: fc.constantFrom('a', 'b', 'c'),
  terms: fc.array(fc.constantFrom('x', 'y', 'z')),
  vector: fc.option(
    fc.tuple(fc.double({ min: 0.1, max: 1, noNaN: true }), fc.double({ min: 0.1, max: 1, noNaN: true })),
  ),
})

function whole<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

test('one tool is corrected by itself as it is with all others', () => {
  fc.assert(
    fc.property(fc.array(taught, { maxLength: 40 }), (all) => {
      const base = createBaseIndex(2)
      for (const name of ['a', 'b', 'c'])
        base.setTool({ name, description: `${name} x y`, parameters: [], examples: [] }, [
          Float32Array.from([1, 0.5]),
        ])
      const lessons = createLessons()
      for (const [i, { tool, terms, vector }] of all.entries()) {
        const own = vector === null ? null : Float32Array.from(vector)
        lessons.learn({ id: `${i}`, tool, topic: null, atMs: i, reward: 0.3, terms, vector: own })
      }
      const overlay = createPostings()
      const byTool = lessons.ofTopic(null)
      for (const [tool, one] of byTool) overlay.set(tool, learnedTerms(one))
      const learned = new Map([...byTool].map(([tool, one]) => [tool, learnFrom(one, tool, base)]))
      const background = drawBackground(byTool, base)
      const together = whole(correctAll(learned, background, { base, overlay }))
      for (const [tool, one] of learned) {
        const alone = correctOne(tool, one, background, { base, overlay })
        assert.ok(Math.abs(alone - (together.get(tool) ?? Number.NaN)) < 1e-6)
      }
    }),
  )
})

test('many lessons are seen through a bounded sample', () => {
  const base = createBaseIndex(2)
  for (let i = 0; i < 20; i += 1)
    base.setTool({ name: `t${i}`, description: '', parameters: [], examples: [] }, [])
  const lessons = createLessons()
  for (let i = 0; i < 500; i += 1)
    lessons.learn({
      id: `${i}`,
      tool: `t${i % 20}`,
      topic: null,
      atMs: i,
      reward: 0.3,
      terms: [`w${i}`],
      vector: null,
    })
  const { asked } = drawBackground(lessons.ofTopic(null), base)
  assert.equal(asked.length, 96)
  assert.equal(new Set(asked.flatMap(({ terms }) => terms)).size, 96)
  assert.ok(new Set(asked.map(({ tool }) => tool)).size >= 19)
})
