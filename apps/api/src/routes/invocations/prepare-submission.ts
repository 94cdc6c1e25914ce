import type { AccessKey } from '@toolyard/access/access-key'
import { mayUseTool } from '@toolyard/access/key-bindings'
import type { CatalogView } from '@toolyard/catalog/create-catalog'
import { unknownTool } from '@toolyard/catalog/require-tool'
import type { InvokeBody } from '@toolyard/contract/invocations'
import type { Json } from '@toolyard/contract/parameters'
import type { Pool } from '@toolyard/db/pool'
import { hashBody } from '@toolyard/invocations/hash-body'
import { resolveTopic } from '@toolyard/invocations/resolve-topic'
import type { Submission } from '@toolyard/invocations/submission'
import type { GuardRules } from '@toolyard/webhooks/guard-rules'
import { fitCall } from './fit-call.ts'
import { refuseCallback } from './refuse-callback.ts'

export type Request = { key: AccessKey; tool: string; body: InvokeBody; idempotencyKey?: string | undefined }

/** A request as it can be stored, or the refusal of what could not run; nothing is queued for a fault (I8). */
export async function prepareSubmission(
  { view, pool, webhookRules }: { view: CatalogView; pool: Pool; webhookRules: GuardRules },
  { key, tool, body, idempotencyKey }: Request,
): Promise<Submission> {
  if (!mayUseTool(key, tool)) throw unknownTool(tool)
  const topic = resolveTopic(key, body.topic)
  await refuseCallback(pool, { key, url: body.callback_url, rules: webhookRules })
  const fitted = await fitCall({ view, pool }, { tool, params: body.params, telemetry: body.telemetry })
  return {
    ...fitted,
    keyId: key.id,
    topic,
    metadata: body.metadata,
    callbackUrl: body.callback_url,
    priority: body.priority,
    delayMs: body.delay_ms,
    ttlMs: body.ttl_ms,
    searchId: body.search_id,
    idempotency: idempotencyOf({ tool, body, idempotencyKey }),
  }
}

/** Of what was sent: a default that a new version of the tool brings does not make it another request. */
export function idempotencyOf({
  tool,
  body,
  idempotencyKey,
}: Omit<Request, 'key'>): Submission['idempotency'] {
  if (idempotencyKey === undefined) return undefined
  return { key: idempotencyKey, bodyHash: hashBody(sent(tool, body)) }
}

// safe because the body was read from a JSON text
const sent = (tool: string, body: InvokeBody) => ({ tool, body }) as Json
