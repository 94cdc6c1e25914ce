import { createLessons } from './learning/create-lessons.ts'
import type { Forgetting } from './learning/create-lessons.ts'
import type { Lesson } from './learning/lesson.ts'
import { createTopicView } from './learning/topic-view.ts'
import type { TopicView } from './learning/topic-view.ts'
import { createBaseIndex } from './score/base-index.ts'
import type { Query } from './score/base-index.ts'
import { calibrate, fitsMin } from './score/calibrate.ts'
import type { Scored } from './score/calibrate.ts'
import { dot } from './score/vectors.ts'
import type { ToolText } from './text/tool-text.ts'

// The index of one process: the tools, and what the topics have learned. Refreshed tool by tool and lesson by lesson.
// R1: what one topic was taught changes nothing in another. R2: what is forgotten leaves no trace. R3: a tool that was
// removed or changed is never found by what it was.

/** Topics whose view is kept ready; the one not asked for longest is worked out again when it is. */
const viewsMax = 32

export type Search = {
  terms: readonly string[]
  /** As it comes from the embedder. Null: the terms decide alone. */
  vector: Float32Array | null
  topic: string | null
  /** The tools it may find; all when not told. */
  among?: ReadonlySet<string>
}

/** What the score is made of: semantic + lexical + learned - correction - penalty. */
export type Hit = Scored & {
  tool: string
  /** How likely it is to be what was asked for: 0 to 1. */
  relevance: number
  learned: number
  correction: number
  penalty: number
}

export type Found = {
  /** The best first. */
  hits: Hit[]
  /** How likely it is that the best fits; 0 when there is no tool. */
  fits: number
  nothingFits: boolean
}

export type SearchIndex = ReturnType<typeof createSearchIndex>

export function createSearchIndex(dimensions: number) {
  const base = createBaseIndex(dimensions)
  const lessons = createLessons()
  const views = new Map<string | null, TopicView>()

  const viewOf = (topic: string | null): TopicView => {
    const view = views.get(topic) ?? createTopicView(base, lessons, topic)
    views.delete(topic)
    views.set(topic, view)
    const [oldest] = views.keys()
    if (views.size > viewsMax && oldest !== undefined) views.delete(oldest)
    view.refresh()
    return view
  }

  const scoreTools = (query: Query, view: TopicView, among: ReadonlySet<string> | undefined): Hit[] => {
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

  return {
    /** Of `referenceMean`; needed wherever there are vectors of an embedder. */
    setReferenceMean: (mean: Float32Array): void => base.setReferenceMean(mean),
    setTool: (tool: ToolText, vectors: readonly Float32Array[]): void => base.setTool(tool, vectors),
    removeTool: (name: string): void => base.removeTool(name),
    toolCount: (): number => base.size(),
    learn: (lesson: Lesson): void => lessons.learn(lesson),
    forget: (what: Forgetting): void => lessons.forget(what),
    search({ terms, vector, topic, among }: Search): Found {
      const view = viewOf(topic)
      const query = { terms, vector: vector === null ? null : base.centreQuery(vector) }
      const hits = scoreTools(query, view, among)
      const [best] = hits
      if (best === undefined) return { hits, fits: 0, nothingFits: true }
      best.covered = base.coveredBy(best.tool, query, view.overlay)
      const relevances = calibrate(hits, terms.length, vector !== null)
      for (const [i, hit] of hits.entries()) hit.relevance = relevances[i] ?? 0
      return { hits, fits: best.relevance, nothingFits: best.relevance < fitsMin }
    },
  }
}
