import type { Actor } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { PageRequest } from '@toolyard/contract/page'
import { cutPage, readPageRequest } from '@toolyard/contract/page'
import type { DeliveryShape } from '@toolyard/contract/webhooks'
import type { Sql } from '@toolyard/db/pool'
import { isOwned, isWebhookRef, noSuchWebhook, ownerOf } from '../endpoints/webhook.ts'
import type { DeliveryRow } from './delivery.ts'
import { deliveryColumns, isDeliveryId } from './delivery.ts'
import { isReadable, readerOf } from './is-readable.ts'

// The tries are few: ten, and those by hand.
const tries = (answer: string) => `
  coalesce((
    select json_agg(json_build_object('started_at', started_at, 'took_ms', took_ms, 'status', status_code,
      'fault', fault, 'answer', ${answer}) order by try)
    from (select * from delivery_tries where delivery_id = one.id order by try desc limit 50) as made
  ), '[]') as made`

// A page of whole answers would have megabytes.
const beginning = 'left(answer, 200)'

// index: deliveries_by_webhook
const selectPage = `
  select ${deliveryColumns}, ${tries(beginning)} from deliveries as one
  where webhook_id = $1 and ${isOwned('$2')} and ($3::text is null or id < $3)
  order by id desc limit $4`

// index: deliveries_once
const selectOf = `
  select ${deliveryColumns}, ${tries(beginning)} from deliveries as one
  where invocation_id = $1 and ${isReadable('$2', '$3')} and ($4::text is null or id < $4)
  order by id desc limit $5`

const findWebhook = `select from webhooks where id = $1 and ${isOwned('$2')}`

const selectOne = `
  select ${deliveryColumns}, ${tries('answer')} from deliveries as one where id = $1 and ${isReadable('$2', '$3')}`

type Try = {
  started_at: string
  took_ms: number
  status: number | null
  fault: string | null
  answer: string | null
}
type Row = DeliveryRow & { made: Try[] }

export const noSuchDelivery = () => new AppError('not_found', 'There is no such delivery')

/** Newest first, with their tries and the beginnings of the answers. Of a webhook that was removed too, until they are old. */
export async function listDeliveries(
  sql: Sql,
  actor: Actor,
  webhookId: string,
  request: PageRequest = {},
): Promise<{ deliveries: DeliveryShape[]; nextCursor: string | null }> {
  if (!isWebhookRef(webhookId)) throw noSuchWebhook()
  const { after, limit } = readPageRequest(request, isDeliveryId)
  const owner = ownerOf(actor)
  const { rows } = await sql.query<Row>(selectPage, [webhookId, owner, after, limit + 1])
  if (rows.length === 0 && (await sql.query(findWebhook, [webhookId, owner])).rowCount === 0)
    throw noSuchWebhook()
  const { page, nextCursor } = cutPage(rows, limit, ({ id }) => id)
  return { deliveries: page.map(toDeliveryShape), nextCursor }
}

/** What was told of an invocation, as far as the actor may see it, newest first. Whether it sees the invocation is asked before. */
export async function listDeliveriesOf(
  sql: Sql,
  actor: Actor,
  invocationId: string,
  request: PageRequest = {},
): Promise<{ deliveries: DeliveryShape[]; nextCursor: string | null }> {
  const { after, limit } = readPageRequest(request, isDeliveryId)
  const { rows } = await sql.query<Row>(selectOf, [invocationId, ...readerOf(actor), after, limit + 1])
  const { page, nextCursor } = cutPage(rows, limit, ({ id }) => id)
  return { deliveries: page.map(toDeliveryShape), nextCursor }
}

export async function getDelivery(sql: Sql, actor: Actor, id: string): Promise<DeliveryShape> {
  if (!isDeliveryId(id)) throw noSuchDelivery()
  const { rows } = await sql.query<Row>(selectOne, [id, ...readerOf(actor)])
  if (rows[0] === undefined) throw noSuchDelivery()
  return toDeliveryShape(rows[0])
}

function toDeliveryShape(row: Row): DeliveryShape {
  const isOpen = row.ended_at === null
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    url: row.url,
    event: row.event,
    invocation_id: row.invocation_id,
    tool: row.tool,
    topic: row.topic,
    status: row.status,
    created_at: row.created_at.toISOString(),
    due_at: isOpen ? row.due_at.toISOString() : null,
    ended_at: row.ended_at?.toISOString() ?? null,
    tries: row.made.map((made) => ({ ...made, started_at: new Date(made.started_at).toISOString() })),
  }
}
