import { newPrefixedId } from '@toolyard/contract/ids'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import { toBytes } from './vector-bytes.ts'

export type KeptSearch = {
  keyId: string
  topic: string
  query: string
  /** As it comes from the embedder; null where there was none to be had. */
  vector: Float32Array | null
  modelId: string
}

const insert = prepared(`
  insert into searches (id, key_id, topic, query, model_id, vector) values ($1, $2, $3, $4, $5, $6)`)

/** Answers the id by which calls say what led to them. */
export async function keepSearch(sql: Sql, search: KeptSearch): Promise<string> {
  const { keyId, topic, query, vector, modelId } = search
  const id = newPrefixedId('srch')
  const known = vector === null ? [null, null] : [modelId, toBytes([vector])]
  await sql.query(insert([id, keyId, topic, query, ...known]))
  return id
}
