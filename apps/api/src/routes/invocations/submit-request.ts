import { mayUseTool } from '@toolyard/access/key-bindings'
import type { Pool } from '@toolyard/db/pool'
import { findReplayed } from '@toolyard/invocations/find-replayed'
import type { GuardRules } from '@toolyard/webhooks/guard-rules'
import type { Request } from './prepare-submission.ts'
import { idempotencyOf, prepareSubmission } from './prepare-submission.ts'
import type { Accepted, SubmitDeps } from './submit-call.ts'
import { submitCall } from './submit-call.ts'

export type SubmitRequestDeps = SubmitDeps & { pool: Pool; webhookRules: GuardRules }

/** A call of one tool by a key: accepted, or rejected with its refusal. */
export const submitRequest = (deps: SubmitRequestDeps, request: Request): Promise<Accepted> =>
  submitCall(deps, {
    tool: request.tool,
    prepare: (view) => prepareSubmission({ ...deps, view }, request),
    findEarlier: () => findEarlier(deps.pool, request),
  })

async function findEarlier(pool: Pool, request: Request) {
  const { key } = request
  if (request.idempotencyKey === undefined || !mayUseTool(key, request.tool)) return undefined
  try {
    return await findReplayed(pool, { keyId: key.id, idempotency: idempotencyOf(request) })
  } catch (error) {
    // What is nested too deep to be written out was never accepted.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
