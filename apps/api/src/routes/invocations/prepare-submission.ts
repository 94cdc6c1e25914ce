import type { AccessKey } from '@toolyard/access/access-key'
import { mayUseTool } from '@toolyard/access/key-bindings'
import type { CatalogView } from '@toolyard/catalog/create-catalog'
import { unknownTool } from '@toolyard/catalog/require-tool'
import { coerceParams } from '@toolyard/contract/coerce-params'
import { AppError } from '@toolyard/contract/errors'
import type { InvokeBody } from '@toolyard/contract/invocations'
import type { Manifest } from '@toolyard/contract/manifest'
import type { Json } from '@toolyard/contract/parameters'
import type { PayloadPart } from '@toolyard/contract/payload'
import { checkPart } from '@toolyard/contract/payload'
import { fillTelemetry } from '@toolyard/contract/telemetry'
import type { Pool } from '@toolyard/db/pool'
import { hashBody } from '@toolyard/invocations/hash-body'
import { resolveCaller } from '@toolyard/invocations/resolve-caller'
import { budgetOf } from '@toolyard/memory/budget'
import type { Submission } from '@toolyard/invocations/submission'
import { findManifest } from '../tools/find-manifest.ts'
import { refuseUnconfigured } from './refuse-submission.ts'

export type Request = { key: AccessKey; tool: string; body: InvokeBody; idempotencyKey?: string | undefined }

/** A request as it can be stored, or the refusal of what could not run; nothing is queued for a fault (I8). */
export async function prepareSubmission(
  { view, pool }: { view: CatalogView; pool: Pool },
  { key, tool, body, idempotencyKey }: Request,
): Promise<Submission> {
  if (!mayUseTool(key, tool)) throw unknownTool(tool)
  const caller = resolveCaller(key, { tool, topic: body.topic })
  const { manifest, manifestHash: checkedHash } = findManifest(view, tool)
  await refuseUnconfigured(pool, tool, manifest)
  await refuseOverBudget(pool, tool, manifest)
  const params = toParams(manifest, body.params)
  const telemetry = fillTelemetry(body.telemetry)
  refuseTooLarge('params', params, manifest)
  refuseTooLarge('telemetry', telemetry, manifest)
  return {
    tool,
    ...caller,
    params,
    telemetry,
    metadata: body.metadata,
    priority: body.priority,
    delayMs: body.delay_ms,
    ttlMs: body.ttl_ms,
    searchId: body.search_id,
    checkedHash,
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

function toParams(manifest: Manifest, given: InvokeBody['params']): Record<string, Json> {
  const coerced = coerceParams(manifest.parameters, given)
  if ('params' in coerced) return coerced.params
  throw new AppError(
    'invalid_params',
    'The params do not fit the tool; each fault is pointed at in "faults"',
    {
      faults: coerced.faults,
    },
  )
}

async function refuseOverBudget(pool: Pool, tool: string, { constraints }: Manifest): Promise<void> {
  const { cost_budget: limit } = constraints
  if (limit === undefined) return
  const { isExhausted, spent, resetsAt } = await budgetOf(pool, { tool, limit })
  if (!isExhausted) return
  throw new AppError(
    'budget_exhausted',
    `${tool} has spent ${spent} of ${limit} today; the budget is fresh at ${resetsAt.toISOString()}`,
    { retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - Date.now()) / 1_000)) },
  )
}

function refuseTooLarge(part: PayloadPart, value: Json, { input }: Manifest): void {
  const fault = checkPart(part, value, input)
  if (fault === undefined) return
  const detail = `${part} has ${fault.bytes} bytes of JSON, more than ${fault.bytesMax}`
  throw new AppError('payload_too_large', detail, { faults: [{ pointer: `/${part}`, detail }] })
}
