import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Scored } from './calibrate.ts'
import { calibrate, featuresOf } from './calibrate.ts'

const scored = fc.record({
  score: fc.double({ min: -2, max: 4, noNaN: true }),
  semantic: fc.double({ min: -1, max: 1, noNaN: true }),
  lexical: fc.double({ min: 0, max: 3, noNaN: true }),
  learned: fc.double({ min: -1, max: 1, noNaN: true }),
  covered: fc.double({ min: 0, max: 1, noNaN: true }),
})

test('whatever the scores, relevance is a probability and falls with the score', () => {
  fc.assert(
    fc.property(
      fc.array(scored, { minLength: 1, maxLength: 30 }),
      fc.nat(200),
      fc.boolean(),
      (some, terms, vectors) => {
        const sorted = some.toSorted((a, b) => b.score - a.score)
        const relevances = calibrate(sorted, terms, vectors)
        for (const [i, relevance] of relevances.entries()) {
          assert.ok(relevance >= 0 && relevance <= 1)
          assert.ok(relevance <= (relevances[i - 1] ?? 1))
        }
      },
    ),
  )
})

const hit = (score: number, covered = 0): Scored => ({
  score,
  semantic: score / 2,
  lexical: score / 2,
  learned: 0,
  covered,
})

test('a clear hit that the query names is likelier to fit than one among many like it', () => {
  const among = Array.from({ length: 40 }, (_, i) => hit(0.2 - i / 1_000))
  for (const withVectors of [true, false]) {
    const [clear = 0] = calibrate([hit(1.4, 0.9), ...among], 6, withVectors)
    const [vague = 0] = calibrate([hit(0.22, 0.1), ...among], 6, withVectors)
    assert.ok(clear > 0.8 && vague < 0.5, `${clear} against ${vague}`)
  }
})

test('where nothing of the query is met by anything, nothing fits', () => {
  const unmet = Array.from({ length: 20 }, () => hit(0))
  for (const withVectors of [true, false])
    assert.deepEqual(new Set(calibrate(unmet, 2, withVectors)), new Set([0]))
  const far = { ...hit(-0.05, 0), semantic: -0.05, lexical: 0 }
  assert.deepEqual(calibrate([far], 2, true), [0])
  assert.deepEqual(calibrate([{ ...far, learned: 0.01 }], 2, false), [0], 'none of its words')
  const [taught = 0] = calibrate([{ ...far, semantic: 0.01, learned: 0.2, score: 0.21 }], 2, true)
  assert.ok(taught > 0)
})

test('one tool alone has no distance to others', () => {
  const features = featuresOf([hit(0.5)], 3)
  assert.deepEqual(
    [features.overSecond, features.overNext, features.deviations, features.tools],
    [0, 0, 0, 0],
  )
})
