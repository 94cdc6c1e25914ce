import type { BaseIndex } from '../score/base-index.ts'
import { addTo, dot, unit } from '../score/vectors.ts'
import { byAge } from './create-lessons.ts'
import type { Taught } from './create-lessons.ts'
import type { Lesson } from './lesson.ts'
import { lessonWeight } from './lesson.ts'

/** How far the mean of the queries that a tool answered draws its vector. */
const centroidPull = 2
/** What a term of such a query counts in the tool's text. */
const termWeight = 0.5
/** A lesson is of queries as near as this. */
export const likeMin = 0.5
const failurePush = 0.15
const failuresCounted = 3

export type Known = { lesson: Lesson; weight: number }

/** What lessons make of one tool. */
export type Learned = {
  taught: Taught
  /** Undefined: the tool has none itself. */
  vector: Float32Array | undefined
  successes: readonly Known[]
  failures: readonly Known[]
  /** All of them, the oldest first. */
  history: readonly Known[]
}

export function learnFrom(taught: Taught, tool: string, base: BaseIndex): Learned {
  const know = (lesson: Lesson): Known => ({ lesson, weight: lessonWeight(lesson) })
  const successes = taught.successes.map(know)
  const failures = taught.failures.map(know)
  const history = [...successes, ...failures].toSorted((x, y) => byAge(x.lesson, y.lesson))
  return { taught, successes, failures, history, vector: drawnVector(base.vectorOf(tool), successes) }
}

/** The same lessons, where the tools have others vectors. */
export const drawAgain = (one: Learned, tool: string, base: BaseIndex): Learned => ({
  ...one,
  vector: drawnVector(base.vectorOf(tool), one.successes),
})

function drawnVector(cold: Float32Array | undefined, successes: readonly Known[]): Float32Array | undefined {
  const drawing = successes.filter(({ lesson }) => lesson.vector !== null)
  if (cold === undefined || drawing.length === 0) return cold
  const total = drawing.reduce((sum, { weight }) => sum + weight, 0)
  const drawn = cold.slice()
  for (const { lesson, weight } of drawing)
    if (lesson.vector !== null) addTo(drawn, lesson.vector, (centroidPull * weight) / (total + 1))
  return unit(drawn)
}

/** The terms of the queries that a tool answered, with their weights. */
export function learnedTerms({ successes }: Taught): Map<string, number> {
  const counts = new Map<string, number>()
  for (const lesson of successes) {
    const weight = termWeight * lessonWeight(lesson)
    for (const term of lesson.terms) counts.set(term, (counts.get(term) ?? 0) + weight)
  }
  return counts
}

/** What failures at queries like this take off; successes at queries like this make up for them. */
export function penalize({ successes, failures }: Learned, query: Float32Array): number {
  if (failures.length === 0) return 0
  const balance = likeness(failures, query) - likeness(successes, query)
  return failurePush * Math.min(failuresCounted, Math.max(0, balance))
}

const likeness = (known: readonly Known[], query: Float32Array): number =>
  known.reduce((sum, { lesson: { vector }, weight }) => {
    const like = vector === null ? 0 : Math.max(0, (dot(vector, query) - likeMin) / (1 - likeMin))
    return sum + weight * like
  }, 0)
