import { z } from 'zod'
import { topicName, toolName } from './keys.ts'
import { isStorable } from './storable.ts'

// What the routes about prompts and notifications take and answer.

export const promptStatuses = ['waiting', 'claimed', 'acked', 'superseded'] as const

export const promptShape = z.object({
  id: z.string(),
  tool: z.string(),
  invocation_id: z.string(),
  tick_at: z.iso.datetime(),
  priority: z.enum(['critical', 'normal', 'low']),
  prompt: z.string().meta({ description: 'the words of the manifest, and below them what the tool wrote' }),
  status: z
    .enum(promptStatuses)
    .meta({ description: 'superseded: too many waited, and newer ones took its place' }),
  created_at: z.iso.datetime(),
  claims: z.int().meta({ description: 'how often it was claimed' }),
  claimed_until: z.iso.datetime().nullable().meta({ description: 'until then it is nobody else’s' }),
})

export const claimPromptsBody = z.strictObject({
  tool: toolName.optional().meta({ description: 'only of this one' }),
  limit: z.int().min(1).max(100).default(1).meta({ description: 'how many at most' }),
  lease_seconds: z
    .int()
    .min(1)
    .max(3_600)
    .default(300)
    .meta({ description: 'how long they are nobody else’s' }),
})

export const claimedPromptShape = promptShape.extend({
  claim: z
    .string()
    .meta({ description: 'proves, when it is acknowledged, that nobody has claimed it since' }),
})

export const ackPromptBody = z.strictObject({
  claim: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'as it was given; without it the last claim of the same key counts' }),
})

export const ackedPromptShape = z.object({
  id: z.string(),
  already: z.boolean().meta({ description: 'it was acknowledged by an earlier call' }),
})

export const notificationBody = z.strictObject({
  message: z
    .string()
    .min(1)
    .max(10_000)
    .refine(isStorable, 'must hold neither U+0000 nor half of a surrogate pair')
    .meta({ description: 'the param that each tool for notifications is called with' }),
  topic: topicName.optional().meta({ description: 'of the calls; else the key’s own' }),
})

export const notifiedShape = z.object({
  invocations: z.array(z.object({ tool: z.string(), id: z.string() })),
  skipped: z.array(z.object({ tool: z.string(), code: z.string(), detail: z.string() })).meta({
    description: 'those that were not called, each with the refusal that a call of it would be answered',
  }),
})

export type PromptShape = z.infer<typeof promptShape>
export type ClaimedPrompt = z.infer<typeof claimedPromptShape>
export type NotificationBody = z.infer<typeof notificationBody>
export type NotifiedShape = z.infer<typeof notifiedShape>
