import { z } from 'zod'
import { printable, toolName, topicName } from './keys.ts'

// What the routes about outgoing webhooks take and answer, and what a message says.

export const webhookEvents = [
  /** Every final status. */
  'invocation.finished',
  /** `failed` and `timed_out` only. */
  'invocation.failed',
  'prompt.created',
  'tool.budget_exhausted',
  'tool.image_failed',
] as const

export type WebhookEvent = (typeof webhookEvents)[number]

export const webhookUrl = printable.min(1).max(2_000)

const parts = {
  url: webhookUrl,
  description: printable.trim().max(500),
  events: z
    .array(z.enum(webhookEvents))
    .min(1)
    .max(webhookEvents.length)
    .refine((events) => new Set(events).size === events.length, 'must name each event once'),
  tools: z.array(toolName).min(1).max(1_000).nullable(),
  topics: z.array(topicName).min(1).max(100).nullable(),
  enabled: z.boolean(),
}

export const newWebhookBody = z.strictObject({
  ...parts,
  description: parts.description.default(''),
  tools: parts.tools.default(null),
  topics: parts.topics.default(null),
  enabled: parts.enabled.default(true),
})

export const changeWebhookBody = z
  .strictObject({
    ...parts,
    /** Ends a pause; what waited is sent. */
    resume: z.literal(true),
    /** A new secret; the old one signs as well for a day. */
    rotate_secret: z.literal(true),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must change something')

export const webhookShape = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string(),
  events: z.array(z.enum(webhookEvents)),
  tools: z.array(z.string()).nullable(),
  topics: z.array(z.string()).nullable(),
  enabled: z.boolean(),
  paused: z.object({ reason: z.string(), at: z.iso.datetime() }).nullable(),
  failing_since: z.iso.datetime().nullable(),
  /** Until then the secret before signs as well. */
  rotated_until: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})

/** With the secret, which is shown this once. */
export const webhookWithSecretShape = webhookShape.extend({ secret: z.string().optional() })

const deliveryStatuses = ['waiting', 'sending', 'delivered', 'dead', 'dropped'] as const

export const deliveryShape = z.object({
  id: z.string(),
  webhook_id: z.string().nullable(),
  /** Of a callback. */
  url: z.string().nullable(),
  event: z.enum(webhookEvents),
  invocation_id: z.string().nullable(),
  tool: z.string(),
  topic: z.string().nullable(),
  status: z.enum(deliveryStatuses),
  created_at: z.iso.datetime(),
  /** When it is tried next. */
  due_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
  tries: z.array(
    z.object({
      started_at: z.iso.datetime(),
      took_ms: z.int(),
      status: z.int().nullable(),
      fault: z.string().nullable(),
      answer: z.string().nullable(),
    }),
  ),
})

export const callbackSecretShape = z.object({
  exists: z.boolean(),
  rotated_until: z.iso.datetime().nullable(),
})

export type NewWebhookBody = z.infer<typeof newWebhookBody>
export type ChangeWebhookBody = z.infer<typeof changeWebhookBody>
export type WebhookShape = z.infer<typeof webhookShape>
export type DeliveryShape = z.infer<typeof deliveryShape>
