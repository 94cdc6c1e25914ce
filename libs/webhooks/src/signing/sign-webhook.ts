import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { createHmac } from 'node:crypto'

// Standard Webhooks 1.0.0, its symmetric scheme: https://www.standardwebhooks.com

export type WebhookMessage = {
  /** The same for every try of a delivery. */
  readonly id: string
  /** Of this try, in seconds since 1970. */
  readonly timestampSeconds: number
  /** The very bytes that are sent. */
  readonly body: Buffer
}

export type WebhookHeaders = {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

// Without the full stop, which ends the id in what is signed: "a.1" at 2 and "a" at "1.2" would have one signature.
const idPattern = /^[\x21-\x2d\x2f-\x7e]{1,255}$/

export const isWebhookId = (text: string) => idPattern.test(text)

/** With several keys, as during a rotation, one signature of each in their order: the newest first. */
export function signWebhook(message: WebhookMessage, keys: readonly KeyObject[]): WebhookHeaders {
  const { id, timestampSeconds, body } = message
  assert(isWebhookId(id), 'the id of a webhook is 1 to 255 visible ASCII characters without a full stop')
  assert(
    Number.isSafeInteger(timestampSeconds) && timestampSeconds >= 0,
    'a timestamp is whole seconds since 1970',
  )
  assert(keys.length > 0, 'a webhook is signed with at least one key')
  const timestamp = String(timestampSeconds)
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => webhookSignature(key, { id, timestamp, body })).join(' '),
  }
}

/** One signature with its version, of a message whose parts are texts as they stand in the headers. */
export function webhookSignature(
  key: KeyObject,
  { id, timestamp, body }: { id: string; timestamp: string; body: Buffer },
): string {
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body)
  return `v1,${mac.digest('base64')}`
}
