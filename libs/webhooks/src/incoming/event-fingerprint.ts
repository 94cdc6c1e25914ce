import { createHash } from 'node:crypto'
import type { IncomingAuth } from './verify-incoming.ts'

type Auth = IncomingAuth['auth']
type VerifiedMessage = { eventId?: string | undefined; sentAt?: Date | undefined; body: Buffer }

/**
 * The same for messages that tell of one event; undefined where nothing says which do. By the id where it is signed: a
 * sender may write an event anew when it sends it again. Else by what is signed, the body and the time of `hmac`: whoever
 * has seen a message can send it again under another id, and that must not count as another event. The holder of a
 * token can say anything and proves no body: with one an id parts events, and without an id each message is one.
 */
export function eventFingerprint(auth: Auth, { eventId, sentAt, body }: VerifiedMessage): Buffer | undefined {
  if (auth === 'token') return eventId === undefined ? undefined : digest(['body', eventId], body)
  const isIdSigned = auth === 'standard' || auth === 'stripe'
  if (isIdSigned && eventId !== undefined) return digest(['id', eventId])
  return digest(auth === 'hmac' && sentAt !== undefined ? ['body', sentAt.toISOString()] : ['body'], body)
}

// The first part is JSON, which ends by itself: no id and body can be read as another pair.
function digest(about: readonly string[], body?: Buffer): Buffer {
  const hash = createHash('sha256').update(JSON.stringify(about))
  return (body === undefined ? hash : hash.update(body)).digest()
}
