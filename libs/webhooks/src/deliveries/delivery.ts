import type { DeliveryShape, WebhookEvent } from '@toolyard/contract/webhooks'
import { newPrefixedId } from '@toolyard/contract/ids'

export type DeliveryRow = {
  id: string
  webhook_id: string | null
  key_id: string
  url: string | null
  event: WebhookEvent
  invocation_id: string | null
  tool: string
  topic: string | null
  status: DeliveryShape['status']
  tries: number
  created_at: Date
  due_at: Date
  ended_at: Date | null
}

export const deliveryColumns = `
  one.id, one.webhook_id, one.key_id, one.url, one.event, one.invocation_id, one.tool, one.topic, one.status,
  one.tries, one.created_at, one.due_at, one.ended_at`

/** What the ids of all that one statement writes begin with. */
export const newIdStem = () => newPrefixedId('msg')

// A statement writes at most a batch of ends times all webhooks, 100,000; a number cut off would be another's.
const numberDigits = 7

/** The id of a row, numbered within its statement in this order. */
export const numberedId = (stem: string, order: string) =>
  `${stem} || to_char(row_number() over (order by ${order}), 'FM${'0'.repeat(numberDigits)}')`

const refPattern = new RegExp(`^msg_[0-9a-z]{26}\\d{${numberDigits}}$`)

/** Other text is never sent to the database, which could not even hold some of it. */
export const isDeliveryId = (text: string) => refPattern.test(text)
