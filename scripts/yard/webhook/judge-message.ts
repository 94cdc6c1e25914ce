import type { KeyObject } from 'node:crypto'
import { isWebhookId } from '@toolyard/webhooks/sign-webhook'
import type { RefusalReason } from '@toolyard/webhooks/verification'
import { verifyWebhook } from '@toolyard/webhooks/verify-webhook'
import { z } from 'zod'

/** A POST that came. */
export type Message = { headers: { get: (name: string) => string | undefined }; body: Buffer }

/** What it says, and whether that is believed. Where it is not, all of it is a stranger's word. */
export type Judged = {
  time: string
  verified: boolean
  /** Why not. */
  reason: RefusalReason | null
  detail: string | null
  /** The webhook-id, if it is one. */
  id: string | null
  event: string | null
  invocation: string | null
  status: string | null
  /** As JSON; as text where it is none. */
  body: unknown
}

const text = z.string().nullable().catch(null)
const noData = { id: null, status: null }
const shape = z
  .object({ type: text, data: z.object({ id: text, status: text }).catch(noData) })
  .catch({ type: null, data: noData })

/** By any of the keys. Without one nothing is verified. */
export function judgeMessage(
  message: Message,
  { keys, now }: { keys: readonly KeyObject[]; now: Date },
): Judged {
  const verdict = verifyWebhook(message, { keys, now })
  const { reason, detail } = verdict.ok ? { reason: null, detail: null } : verdict
  const id = message.headers.get('webhook-id')
  const body = readBody(message.body)
  const { type, data } = shape.parse(body)
  return {
    time: now.toISOString(),
    verified: verdict.ok,
    reason,
    detail,
    id: id !== undefined && isWebhookId(id) ? id : null,
    event: type,
    invocation: data.id,
    status: data.status,
    body,
  }
}

function readBody(body: Buffer): unknown {
  const written = body.toString()
  try {
    const value: unknown = JSON.parse(written)
    // What is nested too deeply can be read and not be written again.
    JSON.stringify(value)
    return value
  } catch {
    return written
  }
}
