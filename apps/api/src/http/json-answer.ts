import type { z } from '@hono/zod-openapi'

/** A route's 200. */
export const jsonAnswer = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: { 'application/json': { schema } } },
})
