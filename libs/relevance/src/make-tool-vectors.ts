import type { Embedder } from './embedding/embedder.ts'
import { EmbedderError } from './embedding/embedder.ts'
import type { ToolText } from './text/tool-text.ts'
import { toolPassages } from './text/tool-text.ts'

/** Vectors as they are kept: by the model that made them, and the text that they are of (S2). */
export type MadeVectors = { modelId: string; textHash: string; vectors: readonly Float32Array[] }

/** By the hash of the text. */
export type Made = ReadonlyMap<string, readonly Float32Array[]>

/** So many texts refused one after the other are no fault of the texts. */
const refusedInARowMax = 5
/** Each time that vectors come into the index all topics are worked out anew, so they come together. */
const appliedEveryMs = 5_000

export type MakingDeps = {
  embedder: Embedder
  monotonicMs: () => number
  /** One that has none yet, nor among these; undefined when all have theirs. */
  next: (made: Made) => { text: ToolText; hash: string } | undefined
  /** From now on `next` leaves it out. */
  refuse: (hash: string) => void
  /** Into the index. */
  apply: (made: Made) => void
  /** For other processes. */
  keep: (made: MadeVectors) => Promise<void>
}

/**
 * Tool by tool, so that a query waits for one at most. Answers which tools have none for their texts are refused. Rejects with
 * EmbedderError where it is not the texts; what was made until then is applied.
 */
export async function makeToolVectors(deps: MakingDeps): Promise<string[]> {
  const { embedder, monotonicMs, next, apply } = deps
  const made = new Map<string, readonly Float32Array[]>()
  const refused: string[] = []
  let inARow = 0
  let appliedAtMs = monotonicMs()
  try {
    for (let one = next(made); one !== undefined; one = next(made)) {
      const { text, hash } = one
      const vectors = await embedUnlessRefused(embedder, text)
      inARow = vectors === undefined ? inARow + 1 : 0
      if (inARow >= refusedInARowMax)
        throw new EmbedderError(`${inARow} texts one after the other were refused`)
      if (vectors === undefined) {
        deps.refuse(hash)
        refused.push(text.name)
        continue
      }
      made.set(hash, vectors)
      if (monotonicMs() - appliedAtMs >= appliedEveryMs) {
        apply(made)
        appliedAtMs = monotonicMs()
      }
      await deps.keep({ modelId: embedder.modelId, textHash: hash, vectors })
    }
    return refused
  } finally {
    apply(made)
  }
}

/** Undefined: it is this text that is refused, and nothing said of others. */
async function embedUnlessRefused(embedder: Embedder, text: ToolText): Promise<Float32Array[] | undefined> {
  try {
    return await embedder.embed(toolPassages(text))
  } catch (error) {
    if (error instanceof EmbedderError && error.fault === 'text') return undefined
    throw error
  }
}
