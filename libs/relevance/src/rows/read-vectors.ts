import type { Sql } from '@toolyard/db/pool'
import type { Embedder } from '../embedding/embedder.ts'
import { toVectors } from './vector-bytes.ts'

// index: text_vectors_pkey
const select = `
  select text_hash, vectors from text_vectors
  where model_id = $1 and text_hash = any($2) and dimensions = $3`

// Once a day is often enough to be told apart from what nobody needs any more.
const noteUse = `
  update text_vectors set used_at = clock_timestamp()
  where model_id = $1 and text_hash = any($2) and used_at < clock_timestamp() - interval '1 day'`

/** What this model has made of these texts, by their hashes; those that it has made nothing of are left out. */
export async function readVectors(
  sql: Sql,
  { modelId, dimensions }: Pick<Embedder, 'modelId' | 'dimensions'>,
  textHashes: readonly string[],
): Promise<Map<string, Float32Array[]>> {
  if (textHashes.length === 0) return new Map()
  const { rows } = await sql.query<{ text_hash: string; vectors: Buffer }>(select, [
    modelId,
    textHashes,
    dimensions,
  ])
  await sql.query(noteUse, [modelId, textHashes])
  return new Map(
    rows.flatMap(({ text_hash, vectors: bytes }) => {
      const vectors = toVectors(bytes, dimensions)
      return vectors.length === 0 ? [] : [[text_hash, vectors]]
    }),
  )
}
