import type { TopicView } from '../learning/topic-view.ts'
import type { BaseIndex, Query } from './base-index.ts'
import type { Scored } from './calibrate.ts'
import { dot } from './vectors.ts'

/** What the score is made of: semantic + lexical + learned - correction - penalty. */
export type Hit = Scored & {
  tool: string
  /** How likely it is to be what was asked for: 0 to 1. */
  relevance: number
  learned: number
  correction: number
  penalty: number
}

type Scoring = { base: BaseIndex; view: TopicView; among: ReadonlySet<string> | undefined }

/** The best first, as yet without their relevance. */
export function scoreTools(query: Query, { base, view, among }: Scoring): Hit[] {
  const plain = base.termScores(query)
  const cold = base.lexicalScores(query, plain)
  const gains = base.learnedScores(query, view.overlay, plain)
  const hits: Hit[] = []
  for (const tool of among ?? base.names()) {
    if (!base.has(tool)) continue
    const own = base.vectorOf(tool)
    const drawn = view.learnedVectorOf(tool)
    const semantic = query.vector === null || own === undefined ? 0 : dot(query.vector, own)
    const lexical = cold.get(tool) ?? 0
    const nearer = query.vector === null || drawn === undefined ? 0 : dot(query.vector, drawn) - semantic
    const { learned, correction } = view.weigh(tool, query, nearer + (gains.get(tool) ?? 0))
    const penalty = view.penaltyOf(tool, query)
    const score = semantic + lexical + learned - correction - penalty
    hits.push({ tool, relevance: 0, score, semantic, lexical, learned, correction, penalty, covered: 0 })
  }
  return hits.sort((a, b) => b.score - a.score || (a.tool < b.tool ? -1 : 1))
}
