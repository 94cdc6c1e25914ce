import { z } from '@hono/zod-openapi'
import type { ErrorCode } from '@toolyard/contract/errors'

/** What every route about tools can refuse with. */
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

// Any text: a folder with a name that no tool may have is listed, and must be found by it.
export const toolParam = z.object({
  name: z
    .string()
    .max(300)
    .meta({ param: { name: 'name', in: 'path' } }),
})

export const common = { tags: ['tools'] }

/** A route's 200. */
export const json = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: { 'application/json': { schema } } },
})
