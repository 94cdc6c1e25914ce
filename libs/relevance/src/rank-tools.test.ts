import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Standing, Standings } from '@toolyard/memory/rank'
import { rankTools } from './rank-tools.ts'

const none: Standings = { meanWeight: null, overall: new Map(), inTopic: new Map() }
const standings = (overall: Record<string, Standing>, meanWeight = 1): Standings => ({
  meanWeight,
  overall: new Map(Object.entries(overall)),
  inTopic: new Map(),
})

test('final is relevance × memory × exploration, worked out by hand', () => {
  const [one] = rankTools(
    [{ tool: 'a', relevance: 0.6 }],
    standings({ a: { weight: 1.2, recent: 0.9, attempts: 24 } }),
  )
  // 0.6 × (1.2 × 0.9) × (1 + 0.1 / 5)
  assert.equal(one?.final.toFixed(6), (0.6 * 1.08 * 1.02).toFixed(6))
  assert.equal(one?.exploration, 1.02)
})

test('of equals, the one that was tried less is tried next; what is clearly better stays first', () => {
  const twins = [
    { tool: 'used', relevance: 0.5 },
    { tool: 'fresh', relevance: 0.5 },
  ]
  const good = standings({ used: { weight: 1, recent: 1, attempts: 100 } })
  const order = (candidates: typeof twins) => rankTools(candidates, good).map(({ tool }) => tool)
  assert.deepEqual(order(twins), ['fresh', 'used'])
  assert.deepEqual(
    order([
      { tool: 'used', relevance: 0.56 },
      { tool: 'fresh', relevance: 0.5 },
    ]),
    ['used', 'fresh'],
  )
})

test('without outcomes relevance alone decides', () => {
  const ranked = rankTools(
    [
      { tool: 'a', relevance: 0.2 },
      { tool: 'b', relevance: 0.3 },
    ],
    none,
  )
  assert.deepEqual(
    ranked.map(({ tool }) => tool),
    ['b', 'a'],
  )
})

test('a tool that starts failing sinks below its twin within 10 outcomes, and rises again when it recovers', () => {
  // The agent calls what stands first. Standings move by the rules of design §5.
  const memory = new Map<string, Standing & { attempts: number; successes: number; reward: number }>()
  const record = (tool: string, isSuccess: boolean): void => {
    const before = memory.get(tool) ?? { weight: 1, recent: 1, attempts: 0, successes: 0, reward: 0 }
    const attempts = before.attempts + 1
    const successes = before.successes + (isSuccess ? 1 : 0)
    const reward = before.reward + (isSuccess ? 0.3 : -0.2)
    const target = (successes / attempts) * (1 + reward / attempts)
    memory.set(tool, {
      attempts,
      successes,
      reward,
      weight: Math.max(0.1, before.weight + 0.1 * (target - before.weight)),
      recent: Math.max(0.1, before.recent + 0.2 * ((isSuccess ? 1 : 0) - before.recent)),
    })
  }
  const first = (): string => {
    const weights = [...memory.values()].map(({ weight }) => weight)
    const meanWeight = weights.length === 0 ? null : weights.reduce((a, b) => a + b, 0) / weights.length
    const candidates = [
      { tool: 'one', relevance: 0.7 },
      { tool: 'two', relevance: 0.7 },
    ]
    return rankTools(candidates, { meanWeight, overall: memory, inTopic: new Map() })[0]?.tool ?? ''
  }
  for (let i = 0; i < 40; i += 1) record(i % 2 === 0 ? 'one' : 'two', true)
  const leader = first()
  const twin = leader === 'one' ? 'two' : 'one'
  let failures = 0
  for (; first() === leader && failures < 10; failures += 1) record(leader, false)
  assert.equal(first(), twin, `not below its twin after ${failures} failures`)
  // Somebody calls it all the same, and it goes on failing; then it works again.
  for (; failures < 10; failures += 1) record(leader, false)
  for (let i = 0; i < 15; i += 1) record(leader, true)
  assert.equal(first(), twin)
  let twinFailures = 0
  for (; first() === twin && twinFailures < 10; twinFailures += 1) record(twin, false)
  assert.equal(first(), leader, `not above its failing twin after ${twinFailures} of its failures`)
  assert.ok(twinFailures <= 5)
})
