import assert from 'node:assert/strict'
import { createLessons } from './learning/create-lessons.ts'
import type { Forgetting, Lessons } from './learning/create-lessons.ts'
import type { Lesson } from './learning/lesson.ts'
import { createTopicView } from './learning/topic-view.ts'
import type { TopicView } from './learning/topic-view.ts'
import { createBaseIndex } from './score/base-index.ts'
import type { BaseIndex } from './score/base-index.ts'
import { calibrate, fitsMin } from './score/calibrate.ts'
import type { Hit } from './score/score-tools.ts'
import { scoreTools } from './score/score-tools.ts'
import { createPartIndex } from './score/part-index.ts'
import type { ToolText } from './text/tool-text.ts'

// The index of one process: the tools, and what the topics have learned. Refreshed tool by tool and lesson by lesson.
// R1: what one topic was taught changes nothing in another. R2: what is forgotten leaves no trace. R3: a tool that was
// removed or changed is never found by what it was. R4: with a reach, all other tools change nothing.

/** Topics whose view is kept ready, of all tools and of each reach; the one not asked for longest is worked out again. */
const viewsMax = 32
const viewsOfReachMax = 8
/** Reaches whose index is kept ready. */
const reachesMax = 16

/** What a search is made in: a topic, by all tools or by those that somebody may know of. */
export type Place = {
  topic: string | null
  /** The tools that there are for whoever asks; all when not told. */
  reach?: readonly string[] | null
}

export type Search = Place & {
  terms: readonly string[]
  /** As it comes from the embedder. Null: the terms decide alone. */
  vector: Float32Array | null
  /** The tools it may find; all of the reach when not told. */
  among?: ReadonlySet<string>
}

export type { Hit }

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
  const whole = createGround(base, lessons, viewsMax)
  const parts = new Map<string, ReturnType<typeof openPart>>()

  const openPart = (names: readonly string[]) => {
    const part = createPartIndex(base, names)
    return { ...part, viewOf: createGround(part.base, lessons, viewsOfReachMax) }
  }

  const open = ({ topic, reach }: Place): { base: BaseIndex; view: TopicView } => {
    if (reach === undefined || reach === null) return { base, view: whole(topic) }
    const names = [...new Set(reach)].toSorted()
    const part = touch(parts, names.join('\n'), () => openPart(names), reachesMax)
    part.refresh()
    return { base: part.base, view: part.viewOf(topic) }
  }

  return {
    /** Of `referenceMean`; needed wherever there are vectors of an embedder. Once: lessons are kept less it. */
    setReferenceMean(mean: Float32Array): void {
      assert.equal(base.referenceMean(), null)
      base.setReferenceMean(mean)
      lessons.changeVectors(base.centreQuery)
    },
    setTool: (tool: ToolText, vectors: readonly Float32Array[]): void => base.setTool(tool, vectors),
    /** Of a tool whose text stays as it is. */
    setVectors: (name: string, vectors: readonly Float32Array[]): void => base.setVectors(name, vectors),
    removeTool: (name: string): void => base.removeTool(name),
    toolCount: (): number => base.size(),
    /** With its vector as it comes from the embedder; one of other dimensions is left out. */
    learn({ vector, ...lesson }: Lesson): void {
      const isOurs = vector !== null && vector.length === dimensions
      lessons.learn({ ...lesson, vector: isOurs ? base.centreQuery(vector) : null })
    },
    forget: (what: Forgetting): void => lessons.forget(what),
    /** How many there are of a topic, or of a tool in it. */
    lessonCountOf: (topic: string | null, tool?: string): number => lessons.countOf(topic, tool),
    /**
     * Works out what a search there starts from, until then by `performance.now()`. False: there is more to do. A search that
     * comes before does all of it.
     */
    prepare: (place: Place, untilMs: number): boolean => open(place).view.advance(untilMs),
    search({ terms, vector, among, ...place }: Search): Found {
      const { base: ground, view } = open(place)
      view.advance(Number.POSITIVE_INFINITY)
      const query = { terms, vector: vector === null ? null : ground.centreQuery(vector) }
      const hits = scoreTools(query, { base: ground, view, among })
      const [best] = hits
      if (best === undefined) return { hits, fits: 0, nothingFits: true }
      best.covered = ground.coveredBy(best.tool, query, view.overlay)
      const relevances = calibrate(hits, terms.length, vector !== null)
      for (const [i, hit] of hits.entries()) hit.relevance = relevances[i] ?? 0
      return { hits, fits: best.relevance, nothingFits: best.relevance < fitsMin }
    },
  }
}

/** The views of one index, those that are asked for. */
function createGround(base: BaseIndex, lessons: Lessons, max: number) {
  const views = new Map<string | null, TopicView>()
  return (topic: string | null): TopicView =>
    touch(views, topic, () => createTopicView(base, lessons, topic), max)
}

/** The one of that name, made where there is none. What was not asked for longest gives way. */
function touch<K, V>(known: Map<K, V>, name: K, make: () => V, max: number): V {
  const one = known.get(name) ?? make()
  known.delete(name)
  known.set(name, one)
  const [oldest] = known.keys()
  if (known.size > max && oldest !== undefined) known.delete(oldest)
  return one
}
