import type { ToolText } from '../text/tool-text.ts'
import { lexicalText } from '../text/tool-text.ts'
import { createTermIndex } from './term-index.ts'
import { createVectorIndex } from './vector-index.ts'

// What is known of the tools by their own words: their centred vectors and their terms.

/** A query as the index takes it. Without a vector the terms decide alone. */
export type Query = { terms: readonly string[]; vector: Float32Array | null }

export type BaseIndex = ReturnType<typeof createBaseIndex>

export function createBaseIndex(dimensions: number) {
  const names = new Set<string>()
  const vectors = createVectorIndex(dimensions)
  const { set: setTerms, remove: removeTerms, ...scores } = createTermIndex()
  let generation = 0

  return {
    ...scores,
    dimensions,
    vectorOf: vectors.vectorOf,
    centreQuery: vectors.centreQuery,
    /** Vectors of `toolPassages`, in their order; none when there is no embedder. */
    setTool(tool: ToolText, ofPassages: readonly Float32Array[]): void {
      names.add(tool.name)
      setTerms(tool.name, lexicalText(tool))
      vectors.set(tool.name, ofPassages)
      generation += 1
    },
    removeTool(name: string): void {
      names.delete(name)
      removeTerms(name)
      vectors.remove(name)
      generation += 1
    },
    setReferenceMean(mean: Float32Array): void {
      vectors.setReferenceMean(mean)
      generation += 1
    },
    names: (): IterableIterator<string> => names.values(),
    has: (name: string): boolean => names.has(name),
    size: (): number => names.size,
    /** Another number, other vectors. */
    generation: (): number => generation,
  }
}
