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

export type VerifiedHook = {
  tool: string
  /** By which the sender was verified. */
  trigger: WebhookTrigger
  eventId: string | undefined
  body: Buffer
  param: Record<string, Json>
}

/** A message that came in, as it can be stored, or the refusal of what could not run. */
export async function prepareHook(
  { view, pool }: { view: CatalogView; pool: Pool },
  hook: VerifiedHook,
): Promise<Submission> {
  const { tool, trigger, param } = hook
  // Between the two the tool may have changed: who was verified by its old trigger is not by the new one.
  if (!isDeepStrictEqual(findManifest(view, tool).manifest.trigger, trigger)) throw unverified()
  const fitted = await fitCall({ view, pool }, { tool, params: {}, platformParams: { _webhook: param } })
  return { ...fitted, keyId: null, topic: `hook:${tool}`, idempotency: idempotencyOfHook(hook) }
}

/** No two tools share a key, though all their messages are the platform's own; and the same event never mismatches. */
export function idempotencyOfHook({ tool, trigger, eventId, body }: VerifiedHook) {
  const fingerprint = eventFingerprint(trigger.auth, { eventId, body })
  return { key: `hook:${tool}:${fingerprint.toString('base64url')}`, bodyHash: fingerprint }
}
