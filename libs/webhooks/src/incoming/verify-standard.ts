import { hasHeader } from '../signing/read-header.ts'
import type { ReceivedWebhook, Verification } from '../signing/verification.ts'
import { isRefusal, refuse } from '../signing/verification.ts'
import { verifyWebhook } from '../signing/verify-webhook.ts'
import { parseWebhookSecret } from '../signing/webhook-secret.ts'

/** Standard Webhooks, also with the names that Svix gave its headers before there was a standard. */
export function verifyStandard(
  received: ReceivedWebhook,
  secrets: readonly string[],
  now: Date,
): Verification {
  const parsed = secrets.map(parseWebhookSecret)
  const faulty = parsed.find((secret) => 'fault' in secret)
  if (faulty !== undefined) return refuse('misconfigured', faulty.fault)
  const keys = parsed.flatMap((secret) => ('key' in secret ? [secret.key] : []))

  // Three headers of one family: a sender of both signs twice.
  const isSvix =
    !hasHeader(received.headers, 'webhook-signature') && hasHeader(received.headers, 'svix-signature')
  const verified = verifyWebhook(received, { keys, now, headerPrefix: isSvix ? 'svix' : 'webhook' })
  return isRefusal(verified) ? verified : { ok: true, eventId: verified.id, sentAt: verified.sentAt }
}
