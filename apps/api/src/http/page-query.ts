import { z } from '@hono/zod-openapi'

/** Keyset pages: `next_cursor` of one page is `cursor` of the next. */
export const pageQuery = z.strictObject({
  cursor: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional().meta({ description: '50 when not given' }),
})
