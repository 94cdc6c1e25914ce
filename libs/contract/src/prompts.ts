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
  /** The words of the manifest, and below them what the tool wrote. */
  prompt: z.string(),
  /** `superseded`: too many waited, and newer ones took its place. */
  status: z.enum(promptStatuses),
  created_at: z.iso.datetime(),
  /** How often it was claimed. */
  claims: z.int(),
  /** Until then it is nobody else's. */
  claimed_until: z.iso.datetime().nullable(),
})

export const claimPromptsBody = z.strictObject({
  tool: toolName.optional(),
  limit: z.int().min(1).max(100).default(1),
  /** How long they are nobody else's. */
  lease_seconds: z.int().min(1).max(3_600).default(300),
})

/** `claim`: proves, when it is acknowledged, that nobody has claimed it since. */
export const claimedPromptShape = promptShape.extend({ claim: z.string() })

export const ackPromptBody = z.strictObject({
  /** As it was given with the claim; without it the last claim of the same key counts. */
  claim: z.string().max(100).optional(),
})

export const ackedPromptShape = z.object({
  id: z.string(),
  /** It was acknowledged by an earlier call. */
  already: z.boolean(),
})

export const notificationBody = z.strictObject({
  message: z
    .string()
    .min(1)
    .max(10_000)
    .refine(isStorable, 'must hold neither U+0000 nor half of a surrogate pair'),
  topic: topicName.optional(),
})

export const notifiedShape = z.object({
  invocations: z.array(z.object({ tool: z.string(), id: z.string() })),
  /** Tools for notifications that were not called, each with the refusal that a call of it would be answered. */
  skipped: z.array(z.object({ tool: z.string(), code: z.string(), detail: z.string() })),
})

export type PromptShape = z.infer<typeof promptShape>
export type ClaimedPrompt = z.infer<typeof claimedPromptShape>
export type NotificationBody = z.infer<typeof notificationBody>
export type NotifiedShape = z.infer<typeof notifiedShape>
