import assert from 'node:assert/strict'
import { AppError } from '@toolyard/contract/errors'
import { newId } from '@toolyard/contract/ids'
import type { NewKeyBody } from '@toolyard/contract/keys'
import type { Sql } from '@toolyard/db/pool'
import type { AccessKey, AccessKeyRow } from './access-key.ts'
import { toAccessKey } from './access-key.ts'
import type { Call } from './actor.ts'
import { keyReference } from './actor.ts'
import { hashSecret, secretCheck } from './secret-hash.ts'
import { formatToken, newSecret } from './token.ts'
import { writeAudit } from './write-audit.ts'

// index: api_keys_not_revoked
const checkAdmission = `
  select coalesce($1::timestamptz <= clock_timestamp(), false) as is_past,
    (select count(*)::integer from (
      select 1 from api_keys
      where revoked_at is null and (expires_at is null or expires_at > now())
      limit $2) as usable) as usable_count`

const insert = `
  insert into api_keys (id, name, secret_hash, secret_check, scopes, topics, tools, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  returning id, name, scopes, topics, tools, created_at, expires_at, revoked_at`

const usableKeysMax = 10_000

/** The only place where the token in clear exists; it is not stored and cannot be shown again. */
export type NewKey = { key: AccessKey; token: string }

export type PreparedSecret = { secret: string; secretHash: string }

/** Apart from the insert, so that the 13 ms of hashing hold no lock. */
export async function prepareSecret(): Promise<PreparedSecret> {
  const secret = newSecret()
  return { secret, secretHash: await hashSecret(secret) }
}

/** Writes key and audit row. The caller has begun the change and settled that the actor may make this key. */
export async function insertKey(
  sql: Sql,
  call: Call,
  body: NewKeyBody,
  prepared: PreparedSecret,
): Promise<NewKey> {
  const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at)
  await admit(sql, expiresAt)
  const inserted = await sql.query<AccessKeyRow>(insert, [
    newId(),
    body.name,
    prepared.secretHash,
    secretCheck(prepared.secret),
    [...new Set(body.scopes)],
    body.topics === undefined ? null : [...new Set(body.topics)],
    body.tools === undefined ? null : [...new Set(body.tools)],
    expiresAt,
  ])
  const row = inserted.rows[0]
  assert(row, 'an insert returns its row')
  const key = toAccessKey(row)
  const { name, scopes, topics, tools } = key
  await writeAudit(sql, call, {
    action: 'key.create',
    target: keyReference(key.id),
    detail: { name, scopes, topics, tools, expires_at: key.expiresAt },
  })
  return { key, token: formatToken({ id: key.id, secret: prepared.secret }) }
}

async function admit(sql: Sql, expiresAt: Date | null): Promise<void> {
  const admission = await sql.query<{ is_past: boolean; usable_count: number }>(checkAdmission, [
    expiresAt,
    usableKeysMax,
  ])
  const row = admission.rows[0]
  assert(row, 'a select without from returns one row')
  if (row.is_past) {
    throw new AppError('invalid_request', 'The key would be expired from the start', {
      faults: [{ pointer: '/expires_at', detail: 'must be in the future' }],
    })
  }
  if (row.usable_count >= usableKeysMax) {
    throw new AppError(
      'invalid_request',
      `There are ${usableKeysMax} keys that work already: revoke some first`,
    )
  }
}
