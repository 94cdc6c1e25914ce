import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import { idempotencySeconds } from './limits.ts'
import type { Submission } from './submission.ts'

/** What an earlier request with the same key has made. */
export type Reservation = { invocationId: string; isSameBody: boolean }

// Waits for whoever is just using the same key. In order, so that two batches cannot wait for each other.
const reserve = prepared(`
  insert into idempotency as known (key_id, key, body_hash, invocation_id, expires_at)
  select key_id, key, body_hash, invocation_id, clock_timestamp() + interval '${idempotencySeconds} seconds'
  from unnest($1::text[], $2::text[], $3::bytea[], $4::text[]) as wanted (key_id, key, body_hash, invocation_id)
  order by key_id collate "C", key collate "C"
  on conflict (key_id, key) do update
  set body_hash = excluded.body_hash, invocation_id = excluded.invocation_id, expires_at = excluded.expires_at
  where known.expires_at <= clock_timestamp()
  returning invocation_id`)

// A statement of its own: it must see what the first one has waited for.
const findOthers = `
  select wanted.invocation_id as candidate, known.invocation_id, known.body_hash = wanted.body_hash as is_same_body
  from unnest($1::text[], $2::text[], $3::bytea[], $4::text[]) as wanted (key_id, key, body_hash, invocation_id)
  join idempotency as known on known.key_id = wanted.key_id and known.key = wanted.key
  where known.invocation_id <> wanted.invocation_id`

const forget = `
  delete from idempotency as known
  using unnest($1::text[], $2::text[], $3::text[]) as refused (key_id, key, invocation_id)
  where known.key_id = refused.key_id and known.key = refused.key
    and known.invocation_id = refused.invocation_id`

type Candidate = { id: string; submission: Submission }

/** Reserves the keys of these; answers, by candidate, which of them another request has. */
export async function reserveKeys(
  sql: Sql,
  candidates: readonly Candidate[],
): Promise<Map<string, Reservation>> {
  const keyed = candidates.flatMap(({ id, submission: { keyId, idempotency } }) =>
    idempotency === undefined ? [] : [{ id, keyId: keyId ?? '', ...idempotency }],
  )
  if (keyed.length === 0) return new Map()
  const values = [
    keyed.map((one) => one.keyId),
    keyed.map((one) => one.key),
    keyed.map((one) => one.bodyHash),
    keyed.map((one) => one.id),
  ]
  const reserved = await sql.query(reserve(values))
  if (reserved.rowCount === keyed.length) return new Map()
  type Row = { candidate: string; invocation_id: string; is_same_body: boolean }
  const others = await sql.query<Row>(findOthers, values)
  return new Map(
    others.rows.map((row) => [
      row.candidate,
      { invocationId: row.invocation_id, isSameBody: row.is_same_body },
    ]),
  )
}

export async function forgetKeys(sql: Sql, refused: readonly Candidate[]): Promise<void> {
  const keyed = refused.filter(({ submission }) => submission.idempotency !== undefined)
  if (keyed.length === 0) return
  await sql.query(forget, [
    keyed.map(({ submission }) => submission.keyId ?? ''),
    keyed.map(({ submission }) => submission.idempotency?.key),
    keyed.map(({ id }) => id),
  ])
}
