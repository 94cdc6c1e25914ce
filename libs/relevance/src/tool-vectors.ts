import type { SearchIndex } from './create-search-index.ts'
import type { Embedder } from './embedding/embedder.ts'
import { textHash } from './text/text-hash.ts'
import type { ToolText } from './text/tool-text.ts'
import { toolPassages } from './text/tool-text.ts'

/** Vectors as they are kept: by the model that made them, and the text that they are of (S2). */
export type MadeVectors = { modelId: string; textHash: string; vectors: readonly Float32Array[] }

/** Tools without vectors stand behind those with them whatever they say, so up to this part of them may lack them. */
const bareShareMax = 0.1

type Known = { text: ToolText; hash: string; hasVectors: boolean }

/**
 * The tools of an index with their vectors. S1: a tool is in the index by its present text as soon as `set` is called; its
 * vectors follow when `embedBare` makes them.
 */
export function createToolVectors(embedder: Embedder, index: SearchIndex) {
  const known = new Map<string, Known>()
  let embedding: Promise<void> | undefined

  const firstBare = () => known.values().find(({ hasVectors }) => !hasVectors)

  const embedAll = async (keep: (made: MadeVectors) => Promise<void>): Promise<void> => {
    // One after the other, so that a query waits for one tool at most.
    for (let one = firstBare(); one !== undefined; one = firstBare()) {
      const { text, hash } = one
      const vectors = await embedder.embed(toolPassages(text))
      // A change that came meanwhile knows better what the tool says now.
      if (known.get(text.name)?.hash === hash) put(text, hash, vectors)
      await keep({ modelId: embedder.modelId, textHash: hash, vectors })
    }
  }

  const put = (text: ToolText, hash: string, vectors: readonly Float32Array[]): void => {
    index.setTool(text, vectors)
    known.set(text.name, { text, hash, hasVectors: vectors.length > 0 })
  }

  return {
    /** Those that are new or have changed, by the hash of their text: their vectors may be kept somewhere. */
    unknownHashes: (tools: readonly ToolText[]): string[] =>
      tools.flatMap((text) => {
        const hash = textHash(text)
        const before = known.get(text.name)
        return before?.hash === hash && before.hasVectors ? [] : [hash]
      }),
    /** All tools there are, with what is kept of their vectors. Those that it does not name are found no more. */
    set(tools: readonly ToolText[], kept: ReadonlyMap<string, readonly Float32Array[]>): void {
      const names = new Set(tools.map(({ name }) => name))
      for (const name of known.keys()) {
        if (names.has(name)) continue
        index.removeTool(name)
        known.delete(name)
      }
      for (const text of tools) {
        const hash = textHash(text)
        const before = known.get(text.name)
        const vectors = (kept.get(hash) ?? []).filter(({ length }) => length === embedder.dimensions)
        if (before?.hash !== hash || (!before.hasVectors && vectors.length > 0)) put(text, hash, vectors)
      }
    },
    /** Makes what is missing, and gives it away to be kept. Rejects with EmbedderError; called again, it goes on. */
    embedBare(keep: (made: MadeVectors) => Promise<void>): Promise<void> {
      embedding ??= embedAll(keep).finally(() => {
        embedding = undefined
      })
      return embedding
    },
    hasEnough(): boolean {
      const bareCount = [...known.values()].filter(({ hasVectors }) => !hasVectors).length
      return bareCount <= bareShareMax * known.size
    },
    hasBare: () => firstBare() !== undefined,
  }
}
