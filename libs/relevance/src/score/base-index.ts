import type { LexicalText, ToolText } from '../text/tool-text.ts'
import { lexicalText } from '../text/tool-text.ts'
import { createTermIndex } from './term-index.ts'
import { createVectorIndex } from './vector-index.ts'

// What is known of the tools by their own words: their centred vectors and their terms.

/** A query as the index takes it. Without a vector the terms decide alone. */
export type Query = { terms: readonly string[]; vector: Float32Array | null }

/** A tool as it was set, so that another index can take it over. */
export type BaseTool = {
  text: LexicalText
  /** Not centred; undefined: it has none. */
  vector: Float32Array | undefined
  /** Another number, another text or other vectors. */
  changed: number
}

export type BaseIndex = ReturnType<typeof createBaseIndex>

export function createBaseIndex(dimensions: number) {
  const tools = new Map<string, BaseTool>()
  const vectors = createVectorIndex(dimensions)
  const { set: setTerms, remove: removeTerms, ...scores } = createTermIndex()
  let generation = 0

  const setVectors = (name: string, text: LexicalText, ofPassages: readonly Float32Array[]): void => {
    vectors.set(name, ofPassages)
    generation += 1
    tools.set(name, { text, vector: vectors.rawVectorOf(name), changed: generation })
  }

  const setText = (name: string, text: LexicalText, ofPassages: readonly Float32Array[]): void => {
    setTerms(name, text)
    setVectors(name, text, ofPassages)
  }

  return {
    ...scores,
    dimensions,
    vectorOf: vectors.vectorOf,
    centreQuery: vectors.centreQuery,
    referenceMean: vectors.referenceMean,
    /** Vectors of `toolPassages`, in their order; none when there is no embedder. */
    setTool: (tool: ToolText, ofPassages: readonly Float32Array[]): void =>
      setText(tool.name, lexicalText(tool), ofPassages),
    /** Of a tool whose text stays as it is; nothing where there is none of that name. */
    setVectors(name: string, ofPassages: readonly Float32Array[]): void {
      const tool = tools.get(name)
      if (tool !== undefined) setVectors(name, tool.text, ofPassages)
    },
    /** As another index has it. */
    takeTool: (name: string, { text, vector }: BaseTool): void =>
      setText(name, text, vector === undefined ? [] : [vector]),
    toolOf: (name: string): BaseTool | undefined => tools.get(name),
    removeTool(name: string): void {
      if (!tools.delete(name)) return
      removeTerms(name)
      vectors.remove(name)
      generation += 1
    },
    setReferenceMean(mean: Float32Array): void {
      vectors.setReferenceMean(mean)
      generation += 1
    },
    names: (): IterableIterator<string> => tools.keys(),
    has: (name: string): boolean => tools.has(name),
    size: (): number => tools.size,
    /** Another number, other vectors. */
    generation: (): number => generation,
  }
}
