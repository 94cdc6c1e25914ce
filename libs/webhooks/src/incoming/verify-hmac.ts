import { createHmac } from 'node:crypto'
import type { HmacOptions } from '@toolyard/contract/webhook-trigger'
import { checkTime } from '../signing/check-time.ts'
import { readHeader } from '../signing/read-header.ts'
import { anySame } from '../signing/same-text.ts'
import type { ReceivedWebhook, Refusal, Verification } from '../signing/verification.ts'
import { isRefusal, refuse } from '../signing/verification.ts'
import { isEventId } from './event-id.ts'

type SignedTime = { sentAt?: Date; before: string }

/** One signature over the body, with or without a time, in a header of its own. */
export function verifyHmac(
  received: ReceivedWebhook,
  options: HmacOptions,
  secrets: readonly string[],
  now: Date,
): Verification {
  const { header, prefix, encoding, algorithm } = options
  const given = readHeader(received.headers, header)
  if (isRefusal(given)) return given
  if (!given.startsWith(prefix)) return refuse('header_malformed', `${header} does not begin with its prefix`)

  const time = readSignedTime(received, options, now)
  if (isRefusal(time)) return time
  const eventId = readEventId(received, options)
  if (isRefusal(eventId)) return eventId

  const signature = given.slice(prefix.length)
  const expected = secrets.map((secret) =>
    createHmac(algorithm, secret).update(time.before).update(received.body).digest(encoding),
  )
  // Digits of hex have two cases, those of base64 one.
  if (!anySame([encoding === 'hex' ? signature.toLowerCase() : signature], expected)) {
    return refuse('no_match', `${header} is not the signature of this message with a known secret`)
  }
  return {
    ok: true,
    ...(eventId === undefined ? {} : { eventId }),
    ...(time.sentAt === undefined ? {} : { sentAt: time.sentAt }),
  }
}

/** The time, and what is signed before the body. */
function readSignedTime(received: ReceivedWebhook, options: HmacOptions, now: Date): SignedTime | Refusal {
  const { signed, timestamp_header: header, timestamp_unit: unit } = options
  if (signed === 'body') return { before: '' }
  if (header === undefined)
    return refuse('misconfigured', 'a timestamp is signed, and no header is named for it')
  const timestamp = readHeader(received.headers, header)
  if (isRefusal(timestamp)) return timestamp
  const sentAt = checkTime(header, timestamp, { now, toleranceSeconds: options.tolerance_seconds, unit })
  if (isRefusal(sentAt)) return sentAt
  return { sentAt, before: signed === 'timestamp.body' ? `${timestamp}.` : `v0:${timestamp}:` }
}

/** One that is named but not sent is refused: an event without it could come twice. */
function readEventId(received: ReceivedWebhook, options: HmacOptions): string | undefined | Refusal {
  if (options.event_id_header === undefined) return undefined
  const eventId = readHeader(received.headers, options.event_id_header)
  if (isRefusal(eventId) || isEventId(eventId)) return eventId
  return refuse('header_malformed', `${options.event_id_header} is not an id`)
}
