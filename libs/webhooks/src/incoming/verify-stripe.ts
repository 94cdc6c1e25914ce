import { createHmac } from 'node:crypto'
import { checkTime, toleranceSecondsDefault } from '../signing/check-time.ts'
import { readHeader } from '../signing/read-header.ts'
import { anySame } from '../signing/same-text.ts'
import type { ReceivedWebhook, Refusal, Verification } from '../signing/verification.ts'
import { isRefusal, refuse } from '../signing/verification.ts'
import { isEventId } from './event-id.ts'

const header = 'stripe-signature'
const signaturesMax = 32

/** `t=<seconds>,v1=<hex>`, of "<t>.<body>" with the whole secret, `whsec_` included, as a text. */
export function verifyStripe(received: ReceivedWebhook, secrets: readonly string[], now: Date): Verification {
  const fields = readFields(received)
  if (isRefusal(fields)) return fields
  const { timestamp, signatures } = fields
  const window = { now, toleranceSeconds: toleranceSecondsDefault, unit: 'seconds' } as const
  const sentAt = checkTime(header, timestamp, window)
  if (isRefusal(sentAt)) return sentAt
  const expected = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${timestamp}.`).update(received.body).digest('hex'),
  )
  if (!anySame(signatures, expected)) {
    return refuse('no_match', `${header} has no signature of this message with a known secret`)
  }
  const eventId = readEventId(received.body)
  return { ok: true, sentAt, ...(eventId === undefined ? {} : { eventId }) }
}

/** Other schemes than v1 are passed over. Two times are none: which of them is signed? */
function readFields({ headers }: ReceivedWebhook): { timestamp: string; signatures: string[] } | Refusal {
  const text = readHeader(headers, header)
  if (isRefusal(text)) return text
  const fields = text.split(',')
  const valuesOf = (scheme: string) =>
    fields.flatMap((field) => (field.startsWith(`${scheme}=`) ? [field.slice(scheme.length + 1)] : []))
  const [timestamp, ...others] = valuesOf('t')
  if (timestamp === undefined || others.length > 0) {
    return refuse('header_malformed', `${header} needs one time, as t=`)
  }
  const signatures = valuesOf('v1')
  if (signatures.length === 0) return refuse('header_malformed', `${header} has no signature, as v1=`)
  if (signatures.length > signaturesMax) {
    return refuse('too_many_signatures', `${header} has too many signatures`)
  }
  return { timestamp, signatures }
}

/** It is signed with the body. A body that is no JSON is not refused: it is for the tool to understand. */
function readEventId(body: Buffer): string | undefined {
  const event = readJson(body)
  if (typeof event !== 'object' || event === null || !('id' in event)) return undefined
  return typeof event.id === 'string' && isEventId(event.id) ? event.id : undefined
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
