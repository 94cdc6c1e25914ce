import { featureNames, featuresOf, sigmoid } from '@toolyard/relevance/calibrate'
import type { Hit } from '@toolyard/relevance/create-search-index'
import { fitLogistic } from './fit-logistic.ts'
import type { Example } from './fit-logistic.ts'
import type { PreparedQuery, PreparedSet } from './prepare-set.ts'
import { shuffle } from './shuffle.ts'
import { teach } from './teach.ts'

/** Sizes that installations have; a set gives those that it has enough tools for, and all it has. */
const sizes = [20, 50, 100, 200, 500]
const queriesPerSize = 400
const outcomes = [0, 200]
/** Of the queries that come, so many have a tool that fits. Agents search for what they believe is there. */
const answerable = 0.7

export type Kind = 'fused' | 'lexical'
type Gap = { offset: number; gap: number; isRight: boolean }
/** The best hits alone are kept: all of them would fill the memory. */
type Asked = { features: readonly number[]; next: readonly { gap: number; isRight: boolean }[] }
type Collected = { fits: Example[]; asked: Asked[] }

export function fitKind(sets: readonly PreparedSet[], kind: Kind) {
  const collected: Collected = { fits: [], asked: [] }
  for (const set of sets) {
    const drawn = new Set([...sizes.filter((one) => one < set.tools.length), set.tools.length])
    // Every set counts alike, however many sizes it gives.
    const share = 1 / drawn.size
    for (const size of drawn)
      for (const outcomeCount of outcomes) collect(set, kind, { size, outcomeCount, share }, collected)
  }
  const weights = fitLogistic(collected.fits)
  const intercept = weights.at(-1) ?? 0
  const gaps = collected.asked.flatMap(({ features, next }) => {
    const offset = features.reduce((sum, value, i) => sum + (weights[i] ?? 0) * value, intercept)
    return next.map((one): Gap => ({ offset, ...one }))
  })
  return {
    intercept,
    weights: Object.fromEntries(featureNames.map((name, i) => [name, weights[i] ?? 0])),
    slope: fitSlope(gaps),
  }
}

/** With the right tool among them, and without it. */
function collect(
  set: PreparedSet,
  kind: Kind,
  { size, outcomeCount, share }: { size: number; outcomeCount: number; share: number },
  into: Collected,
): void {
  const tools = shuffle(set.tools, size).slice(0, size)
  const names = new Set(tools.map(({ name }) => name))
  const index = set.openIndex(tools)
  const isHere = ({ tools: right }: PreparedQuery) => right.some((name) => names.has(name))
  const known = shuffle(set.queries.filter(isHere), size + 1)
  const count = Math.min(outcomeCount, Math.floor(known.length / 2))
  for (const [i, query] of known.slice(0, count).entries()) teach(index, query, i)
  const asked = known.slice(count, count + queriesPerSize)
  const each = share / Math.max(1, asked.length)
  const weigh = (isTrue: boolean) => each * (isTrue ? answerable : 1 - answerable)
  for (const query of asked) {
    const search = (among: ReadonlySet<string>) =>
      index.search({ terms: query.terms, vector: kind === 'fused' ? query.vector : null, topic: null, among })
        .hits
    const present = search(names)
    const absent = search(new Set([...names].filter((name) => !query.tools.includes(name))))
    const features = numbersOf(present, query)
    into.fits.push({ features, isTrue: true, weight: weigh(true) })
    into.fits.push({ features: numbersOf(absent, query), isTrue: false, weight: weigh(false) })
    const best = present[0]?.score ?? 0
    const next = present
      .slice(1, 10)
      .map(({ score, tool }) => ({ gap: best - score, isRight: query.tools.includes(tool) }))
    into.asked.push({ features, next })
  }
}

function numbersOf(hits: readonly Hit[], query: PreparedQuery): number[] {
  const features = featuresOf(hits, query.terms.length)
  return featureNames.map((name) => features[name])
}

/** The likeliest, to a hundredth of an e-fold: golden section over what can be meant. */
function fitSlope(gaps: readonly Gap[]): number {
  const loss = (slope: number) =>
    gaps.reduce((sum, { offset, gap, isRight }) => {
      const p = Math.min(1 - 1e-9, Math.max(1e-9, sigmoid(offset - slope * gap)))
      return sum - Math.log(isRight ? p : 1 - p)
    }, 0)
  let [low, high] = [0, 60]
  while (high - low > 0.01) {
    const [left, right] = [high - (high - low) * 0.618, low + (high - low) * 0.618]
    if (loss(left) < loss(right)) high = right
    else low = left
  }
  return (low + high) / 2
}
