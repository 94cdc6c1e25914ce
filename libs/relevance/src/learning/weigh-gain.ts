import type { Query } from '../score/base-index.ts'
import { dot } from '../score/vectors.ts'
import type { Known, Learned } from './learn-from.ts'
import { likeMin } from './learn-from.ts'

/** From here on a query is the tool's own. */
const ownFrom = 0.7
/** As `recent` of the memory moves. */
const recentRate = 0.2

/**
 * What counts of a tool's gain by what was learned, and what of its correction. For what it has answered before a tool
 * loses no more than it gained: where all ask for the same, who has answered once would stand behind who never did.
 */
export function weighGain(
  one: Learned,
  query: Query,
  { gain, correction }: { gain: number; correction: number },
): { learned: number; correction: number } {
  const learned = gain > 0 ? gain * reliance(one, query) : gain
  const over = correction - Math.max(0, learned)
  return { learned, correction: over <= 0 ? correction : correction - over * ownness(one, query) }
}

/** 1, and less the more of the calls for queries like this have failed lately: what was learned counts by it. */
export function reliance({ failures, history }: Learned, query: Query): number {
  if (failures.length === 0) return 1
  let recent = 1
  for (const one of history) {
    const like = (nearness(one, query) - likeMin) / (1 - likeMin)
    const success = one.lesson.reward > 0 ? 1 : 0
    if (like > 0) recent += recentRate * Math.min(1, like * one.weight) * (success - recent)
  }
  return recent
}

/** 0 to 1: how far a query is one that the tool has answered before, in other words perhaps. */
export function ownness({ successes }: Learned, query: Query): number {
  const nearest = successes.reduce((best, one) => Math.max(best, nearness(one, query)), 0)
  return Math.min(1, Math.max(0, (nearest - likeMin) / (ownFrom - likeMin)))
}

/** By meaning, or by words where one of them has no vector. */
function nearness({ lesson }: Known, { terms, vector }: Query): number {
  const { vector: own } = lesson
  return vector === null || own === null ? sharedPart(lesson.terms, terms) : dot(own, vector)
}

/** Of all their terms, those that both have. */
function sharedPart(a: readonly string[], b: readonly string[]): number {
  const [one, other] = [new Set(a), new Set(b)]
  const all = one.union(other).size
  return all === 0 ? 0 : one.intersection(other).size / all
}
