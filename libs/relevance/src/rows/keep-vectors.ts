import type { Sql } from '@toolyard/db/pool'
import type { MadeVectors } from '../make-tool-vectors.ts'
import { toBytes } from './vector-bytes.ts'

// Another process may have made the same. What is there may be of other dimensions, which nobody could use.
const insert = `
  insert into text_vectors (model_id, text_hash, dimensions, vectors) values ($1, $2, $3, $4)
  on conflict (model_id, text_hash) do update
  set dimensions = excluded.dimensions, vectors = excluded.vectors, used_at = clock_timestamp()`

/** For all processes, and for the next start. */
export async function keepVectors(sql: Sql, { modelId, textHash, vectors }: MadeVectors): Promise<void> {
  await sql.query(insert, [modelId, textHash, vectors[0]?.length ?? 0, toBytes(vectors)])
}
