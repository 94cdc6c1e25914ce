import type { Sql } from '@toolyard/db/pool'
import { findInvocations } from './read-invocations.ts'
import type { Submission, Submitted } from './submission.ts'

// index: idempotency_pkey
const find = `
  select invocation_id
  from idempotency
  where key_id = $1 and key = $2 and body_hash = $3 and expires_at > clock_timestamp()`

/**
 * What an earlier request with the same idempotency key and body has made; for a request that would be refused now,
 * because the tool has changed or gone since.
 */
export async function findReplayed(
  sql: Sql,
  { keyId, idempotency }: Pick<Submission, 'keyId' | 'idempotency'>,
): Promise<Extract<Submitted, { kind: 'accepted' }> | undefined> {
  if (idempotency === undefined) return undefined
  const values = [keyId ?? '', idempotency.key, idempotency.bodyHash]
  const found = await sql.query<{ invocation_id: string }>(find, values)
  const [row] = found.rows
  if (row === undefined) return undefined
  const [invocation] = await findInvocations(sql, [row.invocation_id])
  return invocation === undefined ? undefined : { kind: 'accepted', invocation, replayed: true }
}
