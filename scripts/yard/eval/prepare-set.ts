import { analyze } from '@toolyard/relevance/analyze'
import { createSearchIndex } from '@toolyard/relevance/create-search-index'
import type { SearchIndex } from '@toolyard/relevance/create-search-index'
import type { Embedder } from '@toolyard/relevance/embedder'
import type { ToolText } from '@toolyard/relevance/tool-text'
import { toolPassages } from '@toolyard/relevance/tool-text'
import type { LabelledQuery, LabelledSet } from './read-labelled-set.ts'

export type PreparedQuery = LabelledQuery & { terms: readonly string[]; vector: Float32Array }

/** A set with all its vectors, which live as long as the program. */
export type PreparedSet = {
  tools: readonly ToolText[]
  queries: readonly PreparedQuery[]
  unanswerable: readonly PreparedQuery[]
  /** An index of these tools that has learned nothing. */
  openIndex: (tools: readonly ToolText[]) => SearchIndex
  passagesOf: (tool: ToolText) => readonly Float32Array[]
}

export async function prepareSet(
  { tools, queries, unanswerable }: LabelledSet,
  embedder: Embedder,
  referenceMean: Float32Array,
): Promise<PreparedSet> {
  const passages = new Map<string, Float32Array[]>()
  for (const tool of tools) passages.set(tool.name, await embedder.embed(toolPassages(tool)))
  const prepare = async (some: readonly LabelledQuery[]): Promise<PreparedQuery[]> => {
    const vectors: Float32Array[] = []
    for (let i = 0; i < some.length; i += 64)
      vectors.push(...(await embedder.embed(some.slice(i, i + 64).map(({ query }) => query))))
    return some.flatMap((one, i) => {
      const vector = vectors[i]
      return vector === undefined ? [] : [{ ...one, terms: analyze(one.query), vector }]
    })
  }
  const passagesOf = (tool: ToolText) => passages.get(tool.name) ?? []
  return {
    tools,
    passagesOf,
    queries: await prepare(queries),
    unanswerable: await prepare(unanswerable),
    openIndex(some) {
      const index = createSearchIndex(embedder.dimensions)
      index.setReferenceMean(referenceMean)
      for (const tool of some) index.setTool(tool, passagesOf(tool))
      return index
    },
  }
}
