import type { KeyObject } from 'node:crypto'
import { checkTime, toleranceSecondsDefault } from './check-time.ts'
import type { RequestHeaders } from './read-header.ts'
import { readHeader } from './read-header.ts'
import { anySame } from './same-text.ts'
import { isWebhookId, webhookSignature } from './sign-webhook.ts'
import type { ReceivedWebhook, Refusal } from './verification.ts'
import { isRefusal, refuse } from './verification.ts'

export type WebhookCheck = {
  /** Any of them may have signed it. */
  readonly keys: readonly KeyObject[]
  readonly now: Date
  readonly toleranceSeconds?: number
  /** What the names of the three headers begin with. */
  readonly headerPrefix?: 'webhook' | 'svix'
}

export type VerifiedWebhook = { readonly ok: true; readonly id: string; readonly sentAt: Date }

// A sender in rotation sends two, perhaps of two versions each.
const signaturesMax = 32

/** Whatever was received: an answer, never an error. Signatures of other versions than v1 are passed over. */
export function verifyWebhook(received: ReceivedWebhook, check: WebhookCheck): VerifiedWebhook | Refusal {
  const { keys, now, toleranceSeconds = toleranceSecondsDefault, headerPrefix = 'webhook' } = check
  if (keys.length === 0) return refuse('no_secret', 'there is no secret to verify with')

  const id = readHeader(received.headers, `${headerPrefix}-id`)
  if (isRefusal(id)) return id
  if (!isWebhookId(id)) return refuse('header_malformed', `${headerPrefix}-id is not an id`)

  const timestamp = readHeader(received.headers, `${headerPrefix}-timestamp`)
  if (isRefusal(timestamp)) return timestamp
  const window = { now, toleranceSeconds, unit: 'seconds' } as const
  const sentAt = checkTime(`${headerPrefix}-timestamp`, timestamp, window)
  if (isRefusal(sentAt)) return sentAt

  const given = readSignatures(received.headers, `${headerPrefix}-signature`)
  if (isRefusal(given)) return given
  const expected = keys.map((key) => webhookSignature(key, { id, timestamp, body: received.body }))
  if (!anySame(given, expected))
    return refuse('no_match', 'no signature is of this message and a known secret')
  return { ok: true, id, sentAt }
}

function readSignatures(headers: RequestHeaders, name: string): readonly string[] | Refusal {
  const list = readHeader(headers, name)
  if (isRefusal(list)) return list
  const all = list.split(' ')
  if (all.length > signaturesMax) return refuse('too_many_signatures', `${name} has too many signatures`)
  return all.filter((signature) => signature.startsWith('v1,'))
}
