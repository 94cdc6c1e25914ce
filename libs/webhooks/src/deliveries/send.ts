import type { KeyObject } from 'node:crypto'
import type { Sender } from '../guard/create-sender.ts'
import type { PostAnswer } from '../guard/post.ts'
import { signWebhook } from '../signing/sign-webhook.ts'

/** With what signs it, newest first. */
export type ReadyMessage = { id: string; url: string; body: Buffer; keys: readonly KeyObject[] }

export type Sent = PostAnswer | { kind: 'unsigned'; tookMs: 0 }

/** Signs and posts. A message that nothing signs is not sent: its receiver could only refuse it. */
export async function send(
  sender: Sender,
  { id, url, body, keys }: ReadyMessage,
  { startedAt, signal }: { startedAt: Date; signal: AbortSignal },
): Promise<Sent> {
  if (keys.length === 0) return { kind: 'unsigned', tookMs: 0 }
  const timestampSeconds = Math.floor(startedAt.getTime() / 1_000)
  const signature = signWebhook({ id, timestampSeconds, body }, keys)
  const headers = { 'content-type': 'application/json', 'user-agent': 'Toolyard-Webhooks', ...signature }
  return sender.post({ url, headers, body, signal })
}

/** Why it did not arrive, in words; null where it did. */
export function faultOf(sent: Sent): string | null {
  if (sent.kind === 'unsigned') return 'there is no secret to sign it with'
  if (sent.kind === 'unreachable') return `${sent.reason}: ${sent.detail}`
  const { status } = sent
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `it answered ${status}: redirects are not followed`
  return `it answered ${status}`
}
