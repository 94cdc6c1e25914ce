import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Standing } from './rank.ts'
import { rank } from './rank.ts'

const standings = (parts: {
  meanWeight?: number | null
  overall?: Record<string, Standing>
  inTopic?: Record<string, Standing>
}) => ({
  meanWeight: parts.meanWeight ?? null,
  overall: new Map(Object.entries(parts.overall ?? {})),
  inTopic: new Map(Object.entries(parts.inTopic ?? {})),
})

test('what is told of the memory, worked out by hand', () => {
  const ranked = rank(
    [
      { tool: 'proven', relevance: 0.6 },
      { tool: 'broken', relevance: 0.9 },
      { tool: 'fresh', relevance: 0.7 },
      { tool: 'local', relevance: 0.5 },
    ],
    standings({
      meanWeight: 1,
      overall: {
        proven: { weight: 1.3, recent: 1 },
        broken: { weight: 1.29, recent: 0.1 },
        local: { weight: 0.5, recent: 0.5 },
      },
      inTopic: { local: { weight: 1.2, recent: 1 } },
    }),
  )
  // proven 0.6 x 1.3 = 0.78; fresh 0.7 x 1; local by its topic 0.5 x 1.2 = 0.6; broken 0.9 x 0.129 = 0.1161
  assert.deepEqual(
    ranked.map(({ tool, memory, final }) => [tool, memory.toFixed(3), final.toFixed(4)]),
    [
      ['proven', '1.300', '0.7800'],
      ['fresh', '1.000', '0.7000'],
      ['local', '1.200', '0.6000'],
      ['broken', '0.129', '0.1161'],
    ],
  )
})

test('weights count relative to their mean: where all tools do well, none is better for it', () => {
  const [one] = rank(
    [{ tool: 'a', relevance: 0.8 }],
    standings({ meanWeight: 1.3, overall: { a: { weight: 1.3, recent: 1 } } }),
  )
  assert.deepEqual([one?.memory, one?.final], [1, 0.8])
})

test('without any outcomes relevance alone decides, and equals stand in the order of their names', () => {
  const ranked = rank(
    [
      { tool: 'c', relevance: 0.5, icon: 'x' },
      { tool: 'b', relevance: 0.5, icon: 'y' },
      { tool: 'a', relevance: 0.2, icon: 'z' },
    ],
    standings({}),
  )
  assert.deepEqual(
    ranked.map(({ tool, icon, memory }) => [tool, icon, memory]),
    [
      ['b', 'y', 1],
      ['c', 'x', 1],
      ['a', 'z', 1],
    ],
  )
})

test('a better weight, or a better recent, never lowers a tool', () => {
  const weight = fc.double({ min: 0.1, max: 5, noNaN: true })
  const recent = fc.double({ min: 0.1, max: 1, noNaN: true })
  fc.assert(
    fc.property(
      fc.tuple(weight, weight),
      fc.tuple(recent, recent),
      weight,
      ([w1, w2], [r1, r2], meanWeight) => {
        const finalOf = (standing: Standing) =>
          rank([{ tool: 'a', relevance: 0.5 }], standings({ meanWeight, overall: { a: standing } }))[0]
            ?.final ?? 0
        const low = finalOf({ weight: Math.min(w1, w2), recent: Math.min(r1, r2) })
        assert.ok(low <= finalOf({ weight: Math.max(w1, w2), recent: Math.max(r1, r2) }))
        assert.ok(low > 0, 'a tool can always come back')
      },
    ),
  )
})
