import { createSearchIndex } from './create-search-index.ts'
import type { Found } from './create-search-index.ts'
import type { Embedder } from './embedding/embedder.ts'
import type { Forgetting } from './learning/create-lessons.ts'
import type { Lesson } from './learning/lesson.ts'
import type { Patience } from './query-vectors.ts'
import { createQueryVectors } from './query-vectors.ts'
import { referenceHash, referenceMean } from './score/reference-mean.ts'
import { analyze } from './text/analyze.ts'
import type { ToolText } from './text/tool-text.ts'
import type { MadeVectors } from './tool-vectors.ts'
import { createToolVectors } from './tool-vectors.ts'

// The index together with what makes its vectors. Without vectors it searches by terms alone, and says so.

/** A lesson as it is kept: with the model that its vector is of. */
export type StoredLesson = Lesson & { modelId: string | null }

/** What was made before, by the hash of the text. */
export type KeptVectors = ReadonlyMap<string, readonly Float32Array[]>

export type Question = {
  query: string
  /** Of `embedQuery`; null: words alone. */
  vector: Float32Array | null
  topic: string | null
  among?: ReadonlySet<string>
}

export type Answered = Found & {
  /** Whether meaning had a part in it, or words alone. */
  isSemantic: boolean
}

export type Searcher = ReturnType<typeof createSearcher>

export function createSearcher(embedder: Embedder, patience: Patience = {}) {
  const index = createSearchIndex(embedder.dimensions)
  const tools = createToolVectors(embedder, index)
  const queries = createQueryVectors(embedder, patience)
  const meanHash = referenceHash()
  let isCentred = false

  const centre = (mean: Float32Array): void => {
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
      if (!isCentred && mean?.length === embedder.dimensions) centre(mean)
      tools.set(texts, kept)
    },
    isComplete: (): boolean => isCentred && !tools.hasBare(),
    /** Makes what is missing, and gives it away to be kept. Rejects with EmbedderError; called again, it goes on. */
    async complete(keep: (made: MadeVectors) => Promise<void>): Promise<void> {
      if (!isCentred) {
        const mean = await referenceMean(embedder)
        centre(mean)
        await keep({ modelId: embedder.modelId, textHash: meanHash, vectors: [mean] })
      }
      await tools.embedBare(keep)
    },
    learn({ modelId, ...lesson }: StoredLesson): void {
      const isOurs = modelId === embedder.modelId && lesson.vector?.length === embedder.dimensions
      index.learn(isOurs ? lesson : { ...lesson, vector: null })
    },
    forget: (what: Forgetting): void => index.forget(what),
    /** As it comes from the embedder; null where there is none to be had in time. */
    embedQuery: (query: string): Promise<Float32Array | null> => queries.of(query),
    search({ query, vector, topic, among }: Question): Answered {
      const isSemantic = vector !== null && isCentred && tools.hasEnough()
      const found = index.search({
        terms: analyze(query),
        vector: isSemantic ? vector : null,
        topic,
        ...(among === undefined ? {} : { among }),
      })
      return { ...found, isSemantic }
    },
  }
}
