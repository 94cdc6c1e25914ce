import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../chaos/random.ts'
import { fitLogistic } from './fit-logistic.ts'

test('finds the weights that the examples were made with', () => {
  const random = createRandom(7)
  const examples = Array.from({ length: 20_000 }, () => {
    const features = [random.next() * 4 - 2, random.next() * 4 - 2]
    const p = 1 / (1 + Math.exp(-(2 * (features[0] ?? 0) - (features[1] ?? 0) + 0.5)))
    return { features, isTrue: random.chance(p), weight: 1 }
  })
  const [first = 0, second = 0, intercept = 0] = fitLogistic(examples)
  assert.ok(Math.abs(first - 2) < 0.15 && Math.abs(second + 1) < 0.1 && Math.abs(intercept - 0.5) < 0.1)
})

test('features that say the same, or nothing, do not break it', () => {
  const examples = [0, 1, 2, 3].map((x) => ({ features: [x, x, 0], isTrue: x % 2 === 1, weight: 1 }))
  const weights = fitLogistic(examples)
  assert.ok(weights.every((weight) => Number.isFinite(weight)))
  assert.ok(Math.abs((weights[0] ?? 0) - (weights[1] ?? 0)) < 1e-6)
})
