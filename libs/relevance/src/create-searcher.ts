import { setImmediate } from 'node:timers/promises'
import { createSearchIndex } from './create-search-index.ts'
import type { Found, Place } from './create-search-index.ts'
import type { Embedder } from './embedding/embedder.ts'
import type { Forgetting } from './learning/create-lessons.ts'
import type { Lesson } from './learning/lesson.ts'
import type { Patience } from './query-vectors.ts'
import { createQueryVectors } from './query-vectors.ts'
import { referenceHash, referenceMean } from './score/reference-mean.ts'
import { analyze } from './text/analyze.ts'
import type { ToolText } from './text/tool-text.ts'
import type { MadeVectors } from './make-tool-vectors.ts'
import { createToolVectors } from './tool-vectors.ts'

/** So long nobody else has a turn. */
const sliceMs = 5
/** More than what may be learned takes; whoever changes it faster does not keep a search for ever. */
const slicesMax = 1_000

// The index together with what makes its vectors. Without vectors it searches by terms alone, and says so.

/** A lesson as it is kept: with the model that its vector is of. */
export type StoredLesson = Lesson & { modelId: string | null }

/** What was made before, by the hash of the text. */
export type KeptVectors = ReadonlyMap<string, readonly Float32Array[]>

export type Question = {
  query: string
  /** Of `embedQuery`; null: words alone. */
  vector: Float32Array | null
  among?: ReadonlySet<string>
} & Place

export type Answered = Found & {
  /** Whether meaning had a part in it, or words alone. */
  isSemantic: boolean
}

export type Searcher = ReturnType<typeof createSearcher>

export function createSearcher(embedder: Embedder, patience: Patience = {}) {
  const { monotonicMs = () => performance.now() } = patience
  const index = createSearchIndex(embedder.dimensions)
  const tools = createToolVectors({ embedder, index, monotonicMs })
  const queries = createQueryVectors(embedder, patience)
  const meanHash = referenceHash()
  let isCentred = false

  const centre = (mean: Float32Array): void => {
    if (isCentred) return
    index.setReferenceMean(mean)
    isCentred = true
  }

  return {
    /** Of what `setTools` will look for among the kept. */
    neededHashes: (texts: readonly ToolText[]): string[] => [
      ...(isCentred ? [] : [meanHash]),
      ...tools.unknownHashes(texts),
    ],
    setTools(texts: readonly ToolText[], kept: KeptVectors): void {
      const [mean] = kept.get(meanHash) ?? []
      if (mean?.length === embedder.dimensions) centre(mean)
      tools.set(texts, kept)
    },
    isComplete: (): boolean => isCentred && !tools.hasBare(),
    /**
     * Makes what is missing, and gives it away to be kept. Answers which tools have none for their texts are refused. Rejects
     * with EmbedderError; called again, it goes on.
     */
    async complete(keep: (made: MadeVectors) => Promise<void>): Promise<string[]> {
      if (!isCentred) {
        const mean = await referenceMean(embedder)
        centre(mean)
        await keep({ modelId: embedder.modelId, textHash: meanHash, vectors: [mean] })
      }
      return tools.embedBare(keep)
    },
    learn({ modelId, ...lesson }: StoredLesson): void {
      const isOurs = modelId === embedder.modelId && lesson.vector?.length === embedder.dimensions
      index.learn(isOurs ? lesson : { ...lesson, vector: null })
    },
    forget: (what: Forgetting): void => index.forget(what),
    lessonCountOf: index.lessonCountOf,
    /** As it comes from the embedder; null where there is none to be had in time, or the asker has asked for too much. */
    embedQuery: (query: string, asker: string): Promise<Float32Array | null> => queries.of(query, asker),
    /** What a search there starts from, worked out in slices: all others go on meanwhile. */
    async prepare(place: Place): Promise<void> {
      for (let slice = 0; slice < slicesMax; slice += 1) {
        if (index.prepare(place, performance.now() + sliceMs)) return
        await setImmediate()
      }
    },
    search({ query, vector, among, ...place }: Question): Answered {
      const isSemantic = vector !== null && isCentred && tools.hasEnough()
      const found = index.search({
        terms: analyze(query),
        vector: isSemantic ? vector : null,
        ...place,
        ...(among === undefined ? {} : { among }),
      })
      return { ...found, isSemantic }
    },
  }
}
