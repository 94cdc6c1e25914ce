import { createHash } from 'node:crypto'
import type { IncomingAuth } from './verify-incoming.ts'

type Auth = IncomingAuth['auth']
type VerifiedMessage = { eventId?: string | undefined; body: Buffer }

/**
 * The same for messages that tell of one event. By the id where it is signed: a sender may write an event anew when it
 * sends it again. Else by the body: whoever has seen a message can send it again under another id, and that must not
 * count as another event. The holder of a token can say anything, so that with one an id parts bodies that are alike.
 */
export function eventFingerprint(auth: Auth, { eventId, body }: VerifiedMessage): Buffer {
  const isIdSigned = auth === 'standard' || auth === 'stripe'
  if (isIdSigned && eventId !== undefined) return digest(['id', eventId])
  return digest(auth === 'token' && eventId !== undefined ? ['body', eventId] : ['body'], body)
}

// The first part is JSON, which ends by itself: no id and body can be read as another pair.
function digest(about: readonly string[], body?: Buffer): Buffer {
  const hash = createHash('sha256').update(JSON.stringify(about))
  return (body === undefined ? hash : hash.update(body)).digest()
}
