import type { BaseIndex, Query } from '../score/base-index.ts'
import type { Postings } from '../score/lexical-index.ts'
import { addScaled, addTo, dot } from '../score/vectors.ts'
import type { Taught } from './create-lessons.ts'
import type { Learned } from './learn-from.ts'

// Queries are more like each other than like descriptions, so a tool with lessons gains for queries that are none of its
// business, and tools without any would sink. What it gains on average for queries that others answered is taken off.

/** What is taken off, in parts of that gain. More than the whole: what is asked is nearer to the lessons than their mean. */
const correctionFactor = 1.5

/** As many queries show it. */
const queriesMax = 96

type Asked = Query & { tool: string }

export type Ground = { base: BaseIndex; overlay: Postings }

export type Background = {
  asked: readonly Asked[]
  /** Of the vectors of all, and of those that each tool answered itself. */
  sum: Float32Array
  own: ReadonlyMap<string, { sum: Float32Array; count: number }>
}

/**
 * Evenly from all that succeeded of the tools there are: the same lessons give the same background, in whichever order they
 * were learned.
 */
export function drawBackground(taughtByTool: ReadonlyMap<string, Taught>, base: BaseIndex): Background {
  const byName = [...taughtByTool].filter(([tool]) => base.has(tool)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const successes = byName.flatMap(([, taught]) => taught.successes)
  const step = Math.max(1, successes.length / queriesMax)
  const asked: Asked[] = []
  for (let i = 0; i < Math.min(queriesMax, successes.length); i += 1) {
    const lesson = successes[Math.floor(i * step)]
    if (lesson !== undefined) asked.push({ tool: lesson.tool, terms: lesson.terms, vector: lesson.vector })
  }
  const sum = new Float32Array(base.dimensions)
  const own = new Map<string, { sum: Float32Array; count: number }>()
  for (const { tool, vector } of asked) {
    const ofTool = own.get(tool) ?? { sum: new Float32Array(base.dimensions), count: 0 }
    own.set(tool, ofTool)
    ofTool.count += 1
    if (vector === null) continue
    addTo(ofTool.sum, vector, 1)
    addTo(sum, vector, 1)
  }
  return { asked, sum, own }
}

/** What is taken off each of the tools, in steps of a millisecond or so. */
export function* correctAll(
  learned: ReadonlyMap<string, Learned>,
  background: Background,
  { base, overlay }: Ground,
): Generator<undefined, Map<string, number>> {
  const gains = new Map<string, number>()
  for (const query of background.asked) {
    for (const [tool, gain] of base.learnedScores(query, overlay, base.termScores(query)))
      if (tool !== query.tool) gains.set(tool, (gains.get(tool) ?? 0) + gain)
    yield
  }
  const corrections = new Map<string, number>()
  for (const [tool, one] of learned) {
    const nearer = vectorGain(tool, one, background, base)
    corrections.set(tool, meanGain(tool, background, nearer + (gains.get(tool) ?? 0)))
  }
  return corrections
}

/** The same for one tool, without looking at the others. */
export function correctOne(
  tool: string,
  one: Learned,
  background: Background,
  { base, overlay }: Ground,
): number {
  const gain = background.asked.reduce(
    (sum, query) => (query.tool === tool ? sum : sum + base.learnedScore(tool, query, overlay)),
    0,
  )
  return meanGain(tool, background, vectorGain(tool, one, background, base) + gain)
}

// The sum of products is the product with the sum, so the vectors cost the same however many queries there are.
function vectorGain(tool: string, one: Learned, { sum, own }: Background, base: BaseIndex): number {
  const cold = base.vectorOf(tool)
  if (cold === undefined || one.vector === undefined) return 0
  const ownSum = own.get(tool)?.sum
  const others = ownSum === undefined ? sum : addScaled(sum, ownSum, -1)
  return dot(others, one.vector) - dot(others, cold)
}

function meanGain(tool: string, { asked, own }: Background, gain: number): number {
  const count = asked.length - (own.get(tool)?.count ?? 0)
  return count === 0 ? 0 : (correctionFactor * gain) / count
}
