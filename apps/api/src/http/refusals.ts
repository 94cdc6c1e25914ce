import type { ErrorCode } from '@toolyard/contract/errors'

/** What every route that asks for a key can refuse with. */
export const refusals = [
  'unauthenticated',
  'missing_scope',
  'rate_limited',
  'store_unavailable',
] as const satisfies ErrorCode[]

/** What a route that takes a body can refuse with, too. */
export const bodyRefusals = [
  'malformed_request',
  'unsupported_media_type',
  'payload_too_large',
  'invalid_request',
] as const satisfies ErrorCode[]

/** What any call of a tool can be refused with, whoever makes it. */
export const submitRefusals = [
  'unknown_tool',
  'not_configured',
  'tool_disabled',
  'tools_disabled',
  'image_failed',
  'queue_full',
  'budget_exhausted',
] as const satisfies ErrorCode[]
