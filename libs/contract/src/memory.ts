import { z } from 'zod'

// What has been learned of tools, and what they cost, as the routes answer it.

export const memoryShape = z.object({
  attempts: z.int().meta({
    description: 'counted outcomes: not what was cancelled, expired or refused, and no fault of the platform',
  }),
  successes: z.int(),
  success_rate: z.number().nullable().meta({ description: 'null before the first outcome' }),
  average_reward: z.number().nullable().meta({ description: 'null before the first outcome' }),
  weight: z.number().meta({ description: 'what search prefers the tool by; 1 before the first outcome' }),
  recent: z.number().meta({ description: 'moving average of success, 0.1 to 1' }),
  latency_ms: z
    .object({ p50: z.number(), p95: z.number() })
    .nullable()
    .meta({ description: 'within 9.1 %; null where no call was timed' }),
  last_failure: z.object({ kind: z.string(), at: z.iso.datetime() }).nullable(),
  updated_at: z.iso.datetime().nullable().meta({ description: 'null before the first outcome' }),
})

/** All that a key bound to topics sees of a tool as a whole. */
const weightShape = z.object({ weight: z.number() })

/** The `memory` of a listed tool. */
export const overallMemoryShape = z.union([memoryShape, weightShape])

const topicMemoryShape = memoryShape.extend({ topic: z.string() })

/** `GET /tools/{name}/memory` */
export const toolMemoryShape = z.object({
  tool: z.string(),
  overall: overallMemoryShape,
  topics: z.array(topicMemoryShape).meta({ description: 'those that the key may see, the last used first' }),
  truncated: z.boolean().meta({ description: 'more topics are known than are listed' }),
})

/** `GET /memory`: tools that were called, by name. */
export const memoryListShape = z.object({
  memory: z.array(
    z.object({
      tool: z.string(),
      overall: overallMemoryShape,
      topic: topicMemoryShape.nullable().optional().meta({ description: 'of the topic that was asked for' }),
    }),
  ),
  next_cursor: z.string().nullable(),
})

/** The `budget` of a listed tool. */
export const budgetShape = z.object({
  remaining: z.number().optional().meta({ description: 'what the tool said last of its own account' }),
  remaining_at: z.iso.datetime().optional().meta({ description: 'when it said so' }),
  spent: z.number().meta({ description: 'since midnight UTC' }),
  limit: z.number().nullable().meta({ description: 'the manifest’s constraints.cost_budget' }),
  resets_at: z.iso.datetime(),
  exhausted: z.boolean(),
})

export type MemoryShape = z.infer<typeof memoryShape>
export type OverallMemoryShape = z.infer<typeof overallMemoryShape>
export type TopicMemoryShape = z.infer<typeof topicMemoryShape>
export type ToolMemoryShape = z.infer<typeof toolMemoryShape>
export type MemoryListShape = z.infer<typeof memoryListShape>
export type BudgetShape = z.infer<typeof budgetShape>
