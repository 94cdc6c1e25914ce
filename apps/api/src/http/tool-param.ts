import { z } from '@hono/zod-openapi'

// Any text: a folder with a name that no tool may have is listed, and must be found by it.
export const toolParam = z.object({
  name: z
    .string()
    .max(300)
    .meta({ param: { name: 'name', in: 'path' } }),
})
