import { z } from '@hono/zod-openapi'
import { pageLimit } from '@toolyard/contract/page'

/** Keyset pages: `next_cursor` of one page is `cursor` of the next. */
export const pageQuery = z.strictObject({
  cursor: z.string().max(100).optional(),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(pageLimit.max)
    .optional()
    .meta({ description: `${pageLimit.default} when not given` }),
})
