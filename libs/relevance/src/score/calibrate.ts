import type { Calibration } from './calibration-constants.ts'
import { calibrations } from './calibration-constants.ts'

/** Below this probability the best tool is said not to fit. */
export const fitsMin = 0.35

/** A tool as the score sees it. */
export type Scored = {
  score: number
  semantic: number
  lexical: number
  /** What lessons add. */
  learned: number
  /** The part of what the query says, by the weight of its terms, that the tool's text says too. */
  covered: number
}

export const featureNames = [
  'score',
  'overSecond',
  'overNext',
  'deviations',
  'semantic',
  'lexical',
  'covered',
  'terms',
  'tools',
  'scorePerTerm',
  'overNextPerTerm',
] as const

export type Features = Readonly<Record<(typeof featureNames)[number], number>>

/** What tells whether the best of them fits. Best first; at least one. */
export function featuresOf(scored: readonly Scored[], termCount: number): Features {
  const best = scored[0] ?? { score: 0, semantic: 0, lexical: 0, learned: 0, covered: 0 }
  const scores = scored.map(({ score }) => score)
  const mean = meanOf(scores)
  const deviation = Math.sqrt(meanOf(scores.map((score) => (score - mean) ** 2)))
  const next = scores.slice(1, 6)
  // Each term may add to the lexical score, so what is high depends on how many there are.
  const terms = Math.log1p(Math.max(1, termCount))
  const overNext = next.length === 0 ? 0 : best.score - meanOf(next)
  return {
    score: best.score,
    overSecond: best.score - (scores[1] ?? best.score),
    overNext,
    deviations: deviation < 1e-9 ? 0 : (best.score - mean) / deviation,
    semantic: best.semantic,
    lexical: best.lexical,
    covered: best.covered,
    terms,
    tools: Math.log(Math.max(1, scored.length)),
    scorePerTerm: best.score / terms,
    overNextPerTerm: overNext / terms,
  }
}

/** How likely it is that the best tool fits at all. */
function fitProbability(features: Features, { intercept, weights }: Calibration): number {
  return sigmoid(featureNames.reduce((sum, name) => sum + weights[name] * features[name], intercept))
}

/** Whether anything speaks for it: something of what it says or was taught is in the query, by word or by meaning. */
function isMet({ semantic, lexical, learned, covered }: Scored, withVectors: boolean): boolean {
  return semantic + lexical + learned > 0 && (withVectors || covered > 0)
}

/** Of each tool, how likely it is to be what was asked for: the probability of the best, less by what it is behind. */
export function calibrate(scored: readonly Scored[], termCount: number, withVectors: boolean): number[] {
  const [first] = scored
  // The figures were fitted to queries that somebody meant, of which tools say something nearly always.
  if (first === undefined || !isMet(first, withVectors)) return scored.map(() => 0)
  const calibration = withVectors ? calibrations.fused : calibrations.lexical
  const features = featuresOf(scored, termCount)
  const best = logit(fitProbability(features, calibration))
  return scored.map(({ score }) => sigmoid(best - calibration.slope * (features.score - score)))
}

export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

const logit = (p: number): number => {
  const bounded = Math.min(1 - 1e-6, Math.max(1e-6, p))
  return Math.log(bounded / (1 - bounded))
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
