import { hasHeader, readHeader } from '../signing/read-header.ts'
import { anySameHashed } from '../signing/same-text.ts'
import type { ReceivedWebhook, Refusal, Verification } from '../signing/verification.ts'
import { isRefusal, refuse } from '../signing/verification.ts'
import { isEventId } from './event-id.ts'

// The secret itself is sent, as `authorization: Bearer …` or as `x-webhook-token`. It proves who sent a message, and
// neither what it says nor when it was sent. A sender that names its events does so in `webhook-id`.

const tokenHeader = 'x-webhook-token'
const idHeader = 'webhook-id'

export function verifyToken(received: ReceivedWebhook, secrets: readonly string[]): Verification {
  // Servers read a header as Latin-1, senders write it as they like: other characters would not arrive.
  if (!secrets.every((secret) => /^[\x21-\x7e]+$/.test(secret))) {
    return refuse('misconfigured', 'a secret has characters that a header cannot carry, or blanks')
  }
  const token = readToken(received)
  if (isRefusal(token)) return token
  if (!anySameHashed([token], secrets)) return refuse('no_match', 'the token is not a known secret')
  if (!hasHeader(received.headers, idHeader)) return { ok: true }
  const eventId = readHeader(received.headers, idHeader)
  if (isRefusal(eventId)) return eventId
  return isEventId(eventId) ? { ok: true, eventId } : refuse('header_malformed', `${idHeader} is not an id`)
}

// The header that has no other use goes first: the other one may be a proxy's.
function readToken({ headers }: ReceivedWebhook): string | Refusal {
  if (hasHeader(headers, tokenHeader)) return readHeader(headers, tokenHeader)
  const authorization = readHeader(headers, 'authorization')
  if (isRefusal(authorization)) return authorization
  const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1]
  return bearer ?? refuse('header_malformed', 'authorization is not "Bearer" and a token')
}
