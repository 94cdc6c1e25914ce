import { z } from 'zod'
import { functionFormats } from './function-schemas.ts'
import { topicName, toolName } from './keys.ts'
import { isStorable } from './storable.ts'
import { listedParameter, listedTrigger, toolStatuses } from './tools.ts'

// What `POST /tools/search` takes and answers.

/** Longer than anybody says what is needed, and as much as the models of vectors read. */
const queryMax = 2_000

const searchLimitDefault = 5
const searchLimitMax = 50

const query = z
  .string()
  .max(queryMax)
  .refine((text) => text.trim() !== '', 'must say what is needed')
  .refine(isStorable, 'must hold neither U+0000 nor half of a surrogate pair')

/** What is wrong with what somebody searches for; undefined: nothing. */
export const queryFault = (text: string): string | undefined =>
  query.safeParse(text).error?.issues[0]?.message

export const searchBody = z.strictObject({
  query,
  /** Of the calls that will come of it; what was learned in it counts. */
  topic: topicName.optional(),
  limit: z.int().min(1).max(searchLimitMax).default(searchLimitDefault),
  /** Every number of the order. */
  explain: z.boolean().default(false),
  category: z.string().min(1).max(200).optional(),
  /** `available` lacks a setting. Those that lack none where nothing is said. */
  status: z.enum(toolStatuses).optional(),
  /** `on_demand` where nothing is said. */
  trigger: z.enum(['on_demand', 'cron', 'webhook']).optional(),
  /** As function schemas of this kind, ready to be handed to a model. */
  format: z.enum(functionFormats).optional(),
})

const explanationShape = z.object({
  /** semantic + lexical + learned - correction - penalty */
  score: z.number(),
  semantic: z.number(),
  lexical: z.number(),
  learned: z.number(),
  correction: z.number(),
  penalty: z.number(),
  /** weight ÷ mean_weight × recent. Null: it has no outcomes, and counts as 1. */
  memory: z
    .object({
      /** The topic whose outcomes count; null: those of all topics. */
      topic: z.string().nullable(),
      weight: z.number(),
      mean_weight: z.number(),
      /** Of a tool as a whole a key bound to topics sees the weight alone: neither this, which counts as 1, nor `attempts`. */
      recent: z.number().optional(),
      attempts: z.int().optional(),
    })
    .nullable(),
  exploration: z.number(),
})

const foundTool = z.object({
  name: z.string(),
  description: z.string(),
  category: z.string().nullable(),
  status: z.enum(toolStatuses),
  trigger: listedTrigger,
  parameters: z.record(z.string(), listedParameter),
  /** How likely it is to be what is needed: 0 to 1. */
  relevance: z.number(),
  /** What its outcomes make of it: above 1 it does better than others. */
  memory: z.number(),
  /** relevance × memory × exploration */
  final: z.number(),
  reason: z.string(),
  explain: explanationShape.optional(),
})

const answered = {
  /** For `search_id` of the calls that come of it: so searches learn. */
  search_id: z.string(),
  /** The best is hardly what is needed. The list is given all the same. */
  nothing_fits: z.boolean(),
  /** Words alone where there were no vectors in time. */
  searched_by: z.enum(['meaning and words', 'words']),
}

export const searchAnswerShape = z.object({ ...answered, tools: z.array(foundTool) })
/** What is around the tools in every form. */
export const searchHeadShape = z.object(answered)

/** `DELETE /memory/lessons`: one of them at least. */
export const forgetQuery = z.strictObject({
  tool: toolName.optional(),
  topic: z.string().min(1).max(300).optional(),
})

export type SearchBody = z.infer<typeof searchBody>
export type SearchAnswer = z.infer<typeof searchAnswerShape>
export type FoundTool = z.infer<typeof foundTool>
export type Explanation = z.infer<typeof explanationShape>
