import { z } from '@hono/zod-openapi'
import type { ErrorCode } from '@toolyard/contract/errors'
import { AppError, errorTitles } from '@toolyard/contract/errors'
import { isUnavailable } from '@toolyard/db/is-unavailable'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

// The one place where refusals meet HTTP: RFC 9457 problem documents.

export const statusOf: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  malformed_request: 400,
  invalid_request: 422,
  unauthenticated: 401,
  not_found: 404,
  missing_scope: 403,
  topic_required: 422,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  unknown_tool: 404,
  not_configured: 409,
  tool_disabled: 409,
  tools_disabled: 503,
  image_failed: 503,
  invalid_params: 422,
  invalid_config: 400,
  idempotency_mismatch: 422,
  already_final: 409,
  not_final: 409,
  not_counted: 409,
  being_sent: 409,
  webhook_inactive: 409,
  key_inactive: 409,
  not_kept: 409,
  not_claimed: 409,
  queue_full: 429,
  budget_exhausted: 429,
  secrets_unavailable: 503,
  store_unavailable: 503,
  internal: 500,
}

export const problemType = 'application/problem+json'

export const problemShape = z
  .object({
    type: z.string().meta({ description: 'about:blank: the code says what it is' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().meta({ description: 'stable; programs decide by this' }),
    request_id: z.string(),
    faults: z
      .array(z.object({ pointer: z.string(), detail: z.string() }))
      .optional()
      .meta({ description: 'each fault: a JSON pointer to the field, and how to mend it' }),
  })
  .meta({ id: 'Problem' })

export type Problem = z.infer<typeof problemShape>

/** Whatever was thrown, as a refusal. What nobody foresaw becomes `internal`, which tells the caller nothing. */
export function toRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (error instanceof HTTPException) return fromHttpException(error)
  if (isUnavailable(error)) {
    return new AppError('store_unavailable', 'The database does not answer; try again', {
      retryAfterSeconds: 1,
      cause: error,
    })
  }
  return new AppError('internal', 'The fault is recorded under the request id', { cause: error })
}

export function toProblem(refusal: AppError, requestId: string): Problem {
  return {
    type: 'about:blank',
    title: errorTitles[refusal.code],
    status: statusOf[refusal.code],
    detail: refusal.message,
    code: refusal.code,
    request_id: requestId,
    ...(refusal.faults.length === 0 ? {} : { faults: [...refusal.faults] }),
  }
}

/** For route declarations: the refusals that a route can answer with. */
export function problems(...codes: ErrorCode[]) {
  const described = new Map<number, string[]>()
  for (const code of codes) {
    described.set(statusOf[code], [
      ...(described.get(statusOf[code]) ?? []),
      `\`${code}\`: ${errorTitles[code]}`,
    ])
  }
  return Object.fromEntries(
    [...described].map(([status, lines]) => [
      status,
      { description: lines.join('; '), content: { [problemType]: { schema: problemShape } } },
    ]),
  )
}

// The framework's own refusals: a body that is no JSON, or of another media type.
function fromHttpException(error: HTTPException): AppError {
  if (error.status === 415) {
    return new AppError('unsupported_media_type', 'Send the body with "Content-Type: application/json"')
  }
  if (error.status === 413) return new AppError('payload_too_large', 'The body is too large')
  if (error.status === 400) return new AppError('malformed_request', 'The body is not JSON that can be read')
  return new AppError('internal', 'The fault is recorded under the request id', { cause: error })
}
