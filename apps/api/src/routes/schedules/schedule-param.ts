import { z } from '@hono/zod-openapi'

/** Of a schedule's routes: schedules are named by their tools. */
export const scheduleParam = z.object({
  tool: z
    .string()
    .max(300)
    .meta({ param: { name: 'tool', in: 'path' } }),
})
