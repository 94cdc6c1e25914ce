import type { WebhookEvent } from '@toolyard/contract/webhooks'
import type { Json } from '@toolyard/contract/parameters'
import type { Sql } from '@toolyard/db/pool'
import type { NewJob } from '@toolyard/queue/stored-job'
import { toDeliveryJob } from './delivery-job.ts'
import { newIdStem, numberedId } from './delivery.ts'
import { listening, mayHear } from './is-told.ts'
import { fitEventData } from './message.ts'
import { webhookReceiver } from './receiver.ts'

// Such events are rare, and webhooks few.
const insert = `
  with ${listening}
  insert into deliveries (id, tool, topic, data, webhook_id, key_id, receiver, event)
  select ${numberedId('$1', 'webhook.id')}, $2::text, $3::text, $4::json, webhook.id, webhook.key_id,
    ${webhookReceiver('webhook.id')}, $5::text
  from listening as webhook
  where $5::text = any(webhook.events) and ${mayHear('$2::text', '$3::text')}
  returning id`

export type PlatformEvent = {
  event: Exclude<WebhookEvent, 'invocation.finished' | 'invocation.failed'>
  tool: string
  /** Null: it belongs to none. Whoever may see the tool is told. */
  topic: string | null
  /** For all who may see the tool and the topic: nothing else may be in it. */
  data: Readonly<Record<string, Json>>
}

/**
 * Who is to be told of what is no end of an invocation. In the transaction that makes it so; the jobs are for the queue,
 * once that is committed. Nothing keeps an event that is written twice from being told twice.
 */
export async function writeEvent(sql: Sql, one: PlatformEvent): Promise<NewJob<'deliveries'>[]> {
  const data = JSON.stringify(fitEventData(one.data))
  const { rows } = await sql.query<{ id: string }>(insert, [
    newIdStem(),
    one.tool,
    one.topic,
    data,
    one.event,
  ])
  return rows.map(({ id }) => toDeliveryJob({ id, tries: 0 }))
}
