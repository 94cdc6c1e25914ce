import assert from 'node:assert/strict'
import type { Call } from '@toolyard/access/actor'
import { writeAudit } from '@toolyard/access/write-audit'
import type { ChangeWebhookBody } from '@toolyard/contract/webhooks'
import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { dropVoid } from '../deliveries/drop-void.ts'
import { receiverOf } from '../deliveries/receiver.ts'
import type { WebhookDeps } from './create-webhook.ts'
import { refuseChange } from './refuse-change.ts'
import { refuseUrl } from './refuse-url.ts'
import { forgetOldest, makeSecret, ofWebhook, overlap } from './signing-secrets.ts'
import type { WebhookRow } from './webhook.ts'
import {
  isOwned,
  isWebhookRef,
  noSuchWebhook,
  ownerOf,
  refuseForeign,
  webhookColumns,
  webhookTarget,
} from './webhook.ts'

// Waits for a try that is just about to start: see begin-try.ts.
const lock = `
  select ${webhookColumns},
    coalesce((select scopes from api_keys where api_keys.id = webhooks.key_id), '{}') as owner_scopes
  from webhooks where id = $1 and ${isOwned('$2')} for update`

const update = `
  update webhooks
  set url = $2, description = $3, events = $4, tools = $5, topics = $6, enabled = $7,
    dropped_at = case when $7 then dropped_at else clock_timestamp() end,
    paused_reason = case when $8 then null else paused_reason end,
    paused_at = case when $8 then null else paused_at end,
    failing_since = case when $8 then null else failing_since end,
    failed_at = case when $8 then null else failed_at end,
    secret_no = secret_no + case when $9 then 1 else 0 end,
    rotated_until = case when $9 then clock_timestamp() + ${overlap} else rotated_until end,
    updated_at = clock_timestamp()
  where id = $1
  returning ${webhookColumns}`

/** What is not named stays. Disabling drops what waits; a new address, a resumption and enabling begin afresh. */
export async function changeWebhook(
  { vault, rules }: WebhookDeps,
  call: Call,
  id: string,
  change: ChangeWebhookBody,
): Promise<{ webhook: WebhookRow; secret?: string }> {
  if (!isWebhookRef(id)) throw noSuchWebhook()
  if (change.url !== undefined) refuseUrl(change.url, '/url', rules)
  refuseForeign(call.actor, change)
  const webhook = await transaction(vault.pool, async (sql) => {
    type Locked = WebhookRow & { owner_scopes: string[] }
    const { rows } = await sql.query<Locked>(lock, [id, ownerOf(call.actor)])
    if (rows[0] === undefined) throw noSuchWebhook()
    refuseChange(call.actor, rows[0], change)
    return write(sql, call, rows[0], change)
  })
  if (!webhook.enabled) await dropVoid(vault.pool, receiverOf(id))
  if (change.rotate_secret === undefined) return { webhook }
  // After the row has its number: until it is there, the one before signs, which the receiver knows.
  const signing = { holder: ofWebhook(id), no: webhook.secret_no }
  const secret = await makeSecret(vault, call, signing)
  await forgetOldest(vault, call, signing)
  return { webhook, secret }
}

async function write(
  sql: Sql,
  call: Call,
  before: WebhookRow,
  change: ChangeWebhookBody,
): Promise<WebhookRow> {
  const { resume, rotate_secret, ...given } = change
  const { url, description, events, tools, topics, enabled } = { ...before, ...given }
  const isFresh = resume === true || url !== before.url || (enabled && !before.enabled)
  const isRotated = rotate_secret === true
  const values = [before.id, url, description, events, tools, topics, enabled, isFresh, isRotated]
  const { rows } = await sql.query<WebhookRow>(update, values)
  assert.ok(rows[0], 'what is locked is there')
  await writeAudit(sql, call, {
    action: 'webhook.change',
    target: webhookTarget(before.id),
    // An address may hold what is nobody else's business.
    detail: { ...change, ...(change.url === undefined ? {} : { url: 'changed' }) },
  })
  return rows[0]
}
