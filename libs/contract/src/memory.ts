import { z } from 'zod'

// What has been learned of tools, and what they cost, as the routes answer it.

export const memoryShape = z.object({
  /** Counted outcomes: not what was cancelled, expired or refused, and no fault of the platform. */
  attempts: z.int(),
  successes: z.int(),
  /** Null before the first outcome. */
  success_rate: z.number().nullable(),
  average_reward: z.number().nullable(),
  weight: z.number(),
  /** Moving average of success, 0.1 to 1. */
  recent: z.number(),
  /** Within 9.1 %. Null where no call was timed. */
  latency_ms: z.object({ p50: z.number(), p95: z.number() }).nullable(),
  last_failure: z.object({ kind: z.string(), at: z.iso.datetime() }).nullable(),
  /** Null before the first outcome. */
  updated_at: z.iso.datetime().nullable(),
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
  /** Those that the key may see, the last used first. */
  topics: z.array(topicMemoryShape),
  /** More topics are known than are listed. */
  truncated: z.boolean(),
})

/** `GET /memory`: tools that were called, by name. */
export const memoryListShape = z.object({
  memory: z.array(
    z.object({
      tool: z.string(),
      overall: overallMemoryShape,
      /** Of the topic that was asked for. */
      topic: topicMemoryShape.nullable().optional(),
    }),
  ),
  next_cursor: z.string().nullable(),
})

/** The `budget` of a listed tool. */
export const budgetShape = z.object({
  /** What the tool said last of its own account. */
  remaining: z.number().optional(),
  remaining_at: z.iso.datetime().optional(),
  /** Since midnight UTC. */
  spent: z.number(),
  /** `constraints.cost_budget` */
  limit: z.number().nullable(),
  resets_at: z.iso.datetime(),
  exhausted: z.boolean(),
})

export type MemoryShape = z.infer<typeof memoryShape>
export type OverallMemoryShape = z.infer<typeof overallMemoryShape>
export type TopicMemoryShape = z.infer<typeof topicMemoryShape>
export type ToolMemoryShape = z.infer<typeof toolMemoryShape>
export type MemoryListShape = z.infer<typeof memoryListShape>
export type BudgetShape = z.infer<typeof budgetShape>
