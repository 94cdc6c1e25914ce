import { addScaled, meanVector, unit } from './vectors.ts'

// The vectors of the tools, centred.

/** With fewer tools their mean would be what they are themselves. */
const centredFrom = 10

export function createVectorIndex(dimensions: number) {
  const raw = new Map<string, Float32Array>()
  let reference: Float32Array | null = null
  let centred: Map<string, Float32Array> | null = null

  return {
    /** Of the passages of a tool; none when there is no embedder. */
    set(tool: string, vectors: readonly Float32Array[]): void {
      if (vectors.length === 0) raw.delete(tool)
      else raw.set(tool, unit(meanVector(vectors.map(unit), dimensions)))
      centred = null
    },
    remove(tool: string): void {
      raw.delete(tool)
      centred = null
    },
    vectorOf: (tool: string): Float32Array | undefined => {
      centred ??= centre(raw, dimensions)
      return centred.get(tool)
    },
    /** What is common to questions as such, taken off a query that comes from the embedder. */
    centreQuery: (vector: Float32Array): Float32Array =>
      unit(reference === null ? vector : addScaled(unit(vector), reference, -1)),
    rawVectorOf: (tool: string): Float32Array | undefined => raw.get(tool),
    /** Null until it is set. */
    referenceMean: (): Float32Array | null => reference,
    setReferenceMean(mean: Float32Array): void {
      reference = mean
    },
  }
}

function centre(raw: ReadonlyMap<string, Float32Array>, dimensions: number): Map<string, Float32Array> {
  const mean = meanVector([...raw.values()], dimensions)
  const factor = raw.size < centredFrom ? 0 : -1
  return new Map([...raw].map(([name, vector]) => [name, unit(addScaled(vector, mean, factor))]))
}
