import { isDeepStrictEqual } from 'node:util'
import type { CatalogView } from '@toolyard/catalog/create-catalog'
import type { Json } from '@toolyard/contract/parameters'
import type { WebhookTrigger } from '@toolyard/contract/webhook-trigger'
import type { Pool } from '@toolyard/db/pool'
import type { Submission } from '@toolyard/invocations/submission'
import { eventFingerprint } from '@toolyard/webhooks/event-fingerprint'
import { fitCall } from '../invocations/fit-call.ts'
import { findManifest } from '../tools/find-manifest.ts'
import { unverified } from './unverified.ts'
import type { VerifiedSender } from './verify-sender.ts'

export type VerifiedHook = {
  tool: string
  /** By which the sender was verified. */
  trigger: WebhookTrigger
  idempotency: Submission['idempotency']
  param: Record<string, Json>
}

/** A message that came in, as it can be stored, or the refusal of what could not run. */
export async function prepareHook(
  { view, pool }: { view: CatalogView; pool: Pool },
  { tool, trigger, idempotency, param }: VerifiedHook,
): Promise<Submission> {
  // Between the two the tool may have changed: who was verified by its old trigger is not by the new one.
  if (!isDeepStrictEqual(findManifest(view, tool).manifest.trigger, trigger)) throw unverified()
  const fitted = await fitCall({ view, pool }, { tool, params: {}, platformParams: { _webhook: param } })
  return { ...fitted, keyId: null, topic: `hook:${tool}`, idempotency }
}

type Sender = Extract<VerifiedSender, { ok: true }>

/** No two tools share a key, though all their messages are the platform's own; and the same event never mismatches. */
export function idempotencyOfHook(tool: string, sender: Sender, body: Buffer): Submission['idempotency'] {
  const { trigger, eventId, sentAt } = sender
  const fingerprint = eventFingerprint(trigger.auth, { eventId, sentAt, body })
  if (fingerprint === undefined) return undefined
  return { key: `hook:${tool}:${fingerprint.toString('base64url')}`, bodyHash: fingerprint }
}
