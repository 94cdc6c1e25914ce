/** Every refusal of the product, with the title callers see. Codes are stable; titles may be reworded. */
export const errorTitles = {
  malformed_request: 'The request could not be read',
  invalid_request: 'The request has faults',
  unauthenticated: 'Valid credentials are needed',
  not_found: 'There is nothing here that this key may see',
  missing_scope: 'The key lacks a scope',
  topic_required: 'The topic must be named',
  payload_too_large: 'The request is too large',
  unsupported_media_type: 'The body must be JSON',
  rate_limited: 'Too many requests',
  unknown_tool: 'There is no tool of this name',
  not_configured: 'The tool lacks settings',
  tool_disabled: 'The tool is switched off',
  tools_disabled: 'All tools are switched off',
  image_failed: 'The image of the tool could not be built',
  invalid_params: 'The params do not fit the tool',
  invalid_config: 'The settings do not fit the tool',
  idempotency_mismatch: 'The idempotency key was used for another request',
  already_final: 'It is settled already and changes no more',
  not_final: 'The invocation has not ended',
  not_counted: 'The invocation counts for nothing',
  being_sent: 'The message is being sent at this moment',
  webhook_inactive: 'The webhook is disabled, paused or gone',
  key_inactive: 'The key whose messages these are works no more',
  not_kept: 'What it tells of is kept no longer',
  not_claimed: 'The prompt is not held by this key',
  queue_full: 'Too many invocations are waiting',
  budget_exhausted: 'The budget of the tool is used up',
  secrets_unavailable: 'The secrets cannot be read',
  store_unavailable: 'The database cannot be reached',
  internal: 'Something broke on our side',
} as const

export type ErrorCode = keyof typeof errorTitles

/** One fault of one field: where it is (a JSON pointer) and how to mend it. */
export type Fault = { pointer: string; detail: string }

export type RefusalOptions = { faults?: Fault[]; retryAfterSeconds?: number; cause?: unknown }

/** A refusal: the caller's fault, or a state in which the call cannot be served. Its message is safe to show. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly faults: readonly Fault[]
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, options: RefusalOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.faults = options.faults ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
