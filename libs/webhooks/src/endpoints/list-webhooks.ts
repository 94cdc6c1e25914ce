import type { Actor } from '@toolyard/access/actor'
import type { PageRequest } from '@toolyard/contract/page'
import { cutPage, readPageRequest } from '@toolyard/contract/page'
import type { Sql } from '@toolyard/db/pool'
import type { WebhookRow } from './webhook.ts'
import { isOwned, isWebhookRef, noSuchWebhook, ownerOf, webhookColumns } from './webhook.ts'

// index: webhooks_pkey, or webhooks_by_key
const selectPage = `
  select ${webhookColumns} from webhooks
  where ${isOwned('$1')} and ($2::text is null or id < $2)
  order by id desc
  limit $3`

const selectOne = `select ${webhookColumns} from webhooks where id = $1 and ${isOwned('$2')}`

/** Newest first. */
export async function listWebhooks(
  sql: Sql,
  actor: Actor,
  request: PageRequest = {},
): Promise<{ webhooks: WebhookRow[]; nextCursor: string | null }> {
  const { after, limit } = readPageRequest(request, isWebhookRef)
  const { rows } = await sql.query<WebhookRow>(selectPage, [ownerOf(actor), after, limit + 1])
  const { page, nextCursor } = cutPage(rows, limit, ({ id }) => id)
  return { webhooks: page, nextCursor }
}

export async function getWebhook(sql: Sql, actor: Actor, id: string): Promise<WebhookRow> {
  if (!isWebhookRef(id)) throw noSuchWebhook()
  const { rows } = await sql.query<WebhookRow>(selectOne, [id, ownerOf(actor)])
  if (rows[0] === undefined) throw noSuchWebhook()
  return rows[0]
}
