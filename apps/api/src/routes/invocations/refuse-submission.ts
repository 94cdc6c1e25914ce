import { unknownTool } from '@toolyard/catalog/require-tool'
import type { ErrorCode } from '@toolyard/contract/errors'
import { AppError } from '@toolyard/contract/errors'
import type { Manifest } from '@toolyard/contract/manifest'
import type { Pool } from '@toolyard/db/pool'
import type { SubmitRefusal } from '@toolyard/invocations/submission'
import { missingKeys } from '@toolyard/vault/missing-keys'

const messages = {
  tool_disabled: (tool) => `${tool} is switched off`,
  tools_disabled: () => 'All tools are switched off',
  image_failed: (tool) => `The image of ${tool} could not be built: see GET /tools/${tool}`,
  idempotency_mismatch: () => 'This idempotency key was used with another body: take a new one',
} satisfies Partial<Record<ErrorCode, (tool: string) => string>>

/** What the rows refused, in the words of the API. */
export function toRefusal(refusal: SubmitRefusal, tool: string): AppError {
  if (refusal.code === 'queue_full')
    return new AppError(refusal.code, refusal.message, { retryAfterSeconds: refusal.retryAfterSeconds })
  if (refusal.code === 'unknown_tool') return unknownTool(tool)
  // Whoever judges by a view of the tools looks again and never tells this.
  if (refusal.code === 'tool_changed')
    return new AppError('internal', `${tool} has changed meanwhile: call it again`)
  return new AppError(refusal.code, messages[refusal.code](tool))
}

/** What lacks a setting could only fail (I8). */
export async function refuseUnconfigured(pool: Pool, tool: string, manifest: Manifest): Promise<void> {
  const missing = await missingKeys(pool, tool, manifest.config_schema)
  if (missing.length === 0) return
  throw new AppError('not_configured', `${tool} lacks settings: ${missing.join(', ')}`, {
    faults: missing.map((key) => ({
      pointer: `/config/${key}`,
      detail: `PUT /tools/${tool}/config must store it`,
    })),
  })
}
