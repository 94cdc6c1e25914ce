import type { SearchIndex } from './create-search-index.ts'
import type { Embedder } from './embedding/embedder.ts'
import type { Made, MadeVectors } from './make-tool-vectors.ts'
import { makeToolVectors } from './make-tool-vectors.ts'
import { createRefusedTexts } from './refused-texts.ts'
import { textHash } from './text/text-hash.ts'
import type { ToolText } from './text/tool-text.ts'

/** Tools without vectors stand behind those with them whatever they say, so up to this part of them may lack them. */
const bareShareMax = 0.1

type Known = { text: ToolText; hash: string; hasVectors: boolean }
type Keep = (made: MadeVectors) => Promise<void>

export type ToolVectorsDeps = { embedder: Embedder; index: SearchIndex; monotonicMs: () => number }

/**
 * The tools of an index with their vectors. S1: a tool is in the index by its present text as soon as `set` is called; its
 * vectors follow when `embedBare` makes them. One whose text the embedder refuses is found by its words.
 */
export function createToolVectors({ embedder, index, monotonicMs }: ToolVectorsDeps) {
  const known = new Map<string, Known>()
  const refused = createRefusedTexts(monotonicMs)
  let embedding: Promise<string[]> | undefined

  const bare = () => known.values().filter(({ hash, hasVectors }) => !hasVectors && !refused.has(hash))

  const embedAll = (keep: Keep): Promise<string[]> =>
    makeToolVectors({
      embedder,
      monotonicMs,
      // Looked for anew each time: what changes meanwhile knows better what the tools say now.
      next: (made) => bare().find(({ hash }) => !made.has(hash)),
      refuse: (hash) => refused.add(hash),
      apply,
      keep,
    })

  const apply = (made: Made): void => {
    for (const one of known.values()) {
      const vectors = made.get(one.hash)
      if (one.hasVectors || vectors === undefined) continue
      index.setVectors(one.text.name, vectors)
      one.hasVectors = true
    }
  }

  const put = (text: ToolText, hash: string, vectors: readonly Float32Array[]): void => {
    const isSame = known.get(text.name)?.hash === hash
    if (isSame) index.setVectors(text.name, vectors)
    else index.setTool(text, vectors)
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
    /**
     * Makes what is missing, and gives it away to be kept. Answers whose texts were refused. Rejects with EmbedderError; called
     * again, it goes on.
     */
    embedBare(keep: Keep): Promise<string[]> {
      embedding ??= embedAll(keep).finally(() => {
        embedding = undefined
      })
      return embedding
    },
    hasEnough: (): boolean => bare().toArray().length <= bareShareMax * known.size,
    hasBare: (): boolean => bare().next().done !== true,
  }
}
