import assert from 'node:assert/strict'
import type { Call } from '@toolyard/access/actor'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import { newPrefixedId } from '@toolyard/contract/ids'
import type { NewWebhookBody } from '@toolyard/contract/webhooks'
import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { Vault } from '@toolyard/vault/open-vault'
import type { GuardRules } from '../guard/guard-rules.ts'
import { refuseUnreadable } from './refuse-change.ts'
import { refuseUrl } from './refuse-url.ts'
import { forgetSecrets, makeSecret, ofWebhook } from './signing-secrets.ts'
import type { WebhookRow } from './webhook.ts'
import { refuseForeign, webhookColumns, webhookTarget } from './webhook.ts'

// Every end of an invocation is held to every webhook. Those of keys that have ended count no more.
const ofKeyMax = 100
const ofAllMax = 500

// Whoever adds one does so one after the other: two would both be the last that is allowed.
const lockCount = `select pg_advisory_xact_lock(hashtextextended('webhooks', 0))`

// indexes: api_keys_pkey, webhooks_by_key
const count = `
  select owner.id is not null as is_usable,
    (select count(*)::integer from webhooks where key_id = $1) as of_key,
    (select count(*)::integer from webhooks as webhook
      join api_keys on api_keys.id = webhook.key_id and api_keys.revoked_at is null
        and (api_keys.expires_at is null or api_keys.expires_at > clock_timestamp())) as of_all
  from (select) as one
  left join api_keys as owner on owner.id = $1 and owner.revoked_at is null
    and (owner.expires_at is null or owner.expires_at > clock_timestamp())`

const insert = `
  insert into webhooks (id, key_id, url, description, events, tools, topics, enabled)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  returning ${webhookColumns}`

export type WebhookDeps = { vault: Vault; rules: GuardRules }

/** With the secret that signs what it is sent, which is told this once. */
export async function createWebhook(
  { vault, rules }: WebhookDeps,
  call: Call,
  body: NewWebhookBody,
): Promise<{ webhook: WebhookRow; secret: string }> {
  const { actor } = call
  assert.ok(actor.kind === 'key', 'a webhook belongs to a key')
  refuseUrl(body.url, '/url', rules)
  refuseForeign(actor, body)
  refuseUnreadable(actor.key.scopes, body.events)
  // Also before there is a secret: whoever is refused must leave nothing behind.
  await refuseFull(vault.pool, actor.key.id)
  const id = newPrefixedId('whk')
  const signing = { holder: ofWebhook(id), no: 1 }
  // Before its row: a webhook without a secret could send nothing, a secret without a webhook harms nobody.
  const secret = await makeSecret(vault, call, signing)
  try {
    const webhook = await transaction(vault.pool, async (sql) => {
      await sql.query(lockCount)
      await refuseFull(sql, actor.key.id)
      return write(sql, call, { ...body, id, keyId: actor.key.id })
    })
    return { webhook, secret }
  } catch (error) {
    // Of another error nobody knows whether the row is there all the same.
    if (error instanceof AppError) await forgetSecrets(vault, call, signing)
    throw error
  }
}

async function write(
  sql: Sql,
  call: Call,
  { id, keyId, url, description, ...rest }: NewWebhookBody & { id: string; keyId: string },
): Promise<WebhookRow> {
  const { events, tools, topics, enabled } = rest
  const values = [id, keyId, url, description, events, tools, topics, enabled]
  const { rows } = await sql.query<WebhookRow>(insert, values)
  assert.ok(rows[0], 'an insert gives its row')
  // An address may hold what is nobody else's business.
  await writeAudit(sql, call, { action: 'webhook.create', target: webhookTarget(id), detail: rest })
  return rows[0]
}

async function refuseFull(sql: Sql, keyId: string): Promise<void> {
  type Count = { is_usable: boolean; of_key: number; of_all: number }
  const { rows } = await sql.query<Count>(count, [keyId])
  const [row] = rows
  if (row?.is_usable !== true) throw new AppError('unauthenticated', 'This key has expired or was revoked')
  if (row.of_key >= ofKeyMax)
    throw new AppError('invalid_request', `A key has at most ${ofKeyMax} webhooks: delete one first`)
  if (row.of_all >= ofAllMax)
    throw new AppError('invalid_request', `There are ${ofAllMax} webhooks already: delete some first`)
}
