import { createHash } from 'node:crypto'
import type { Embedder } from '../embedding/embedder.ts'
import { referenceQueries } from './reference-queries.ts'
import { meanVector, unit } from './vectors.ts'

/** By which the mean is kept beside the vectors of tools, whose hashes have no word before them. */
export const referenceHash = (): string =>
  `reference ${createHash('sha256').update(JSON.stringify(referenceQueries)).digest('base64url')}`

/** What is common to questions as such, for this embedder. It is the same every time. */
export async function referenceMean(embedder: Embedder): Promise<Float32Array> {
  const vectors = await embedder.embed(referenceQueries)
  return meanVector(vectors.map(unit), embedder.dimensions)
}
