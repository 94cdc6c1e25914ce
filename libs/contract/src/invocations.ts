import { z } from 'zod'
import {
  delayMaxMs,
  idempotencyKeyMax,
  priorityDefault,
  priorityMax,
  ttlDefaultMs,
  ttlMaxMs,
} from './call-limits.ts'
import { topicName, toolName } from './keys.ts'
import type { Json } from './parameters.ts'
import { givenTelemetry } from './telemetry.ts'
import { webhookUrl } from './webhooks.ts'

// What the routes about invocations take and answer.

// What comes from a JSON text, and needs no second look at each of its values.
const anyJson: z.ZodType<Json> = z.any()

const metadataBytesMax = 4_096

function isSmall(value: Json): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value)) <= metadataBytesMax
  } catch {
    // Nested so deep that it cannot be written out, it would have been larger by far.
    return false
  }
}

const metadata = z
  .record(z.string().max(200), anyJson)
  .refine((value) => isSmall(value), `must be at most ${metadataBytesMax} bytes of JSON`)

export const invokeBody = z.strictObject({
  params: z
    .record(z.string(), anyJson)
    .default({})
    .meta({ description: 'for the tool, held to its manifest' }),
  topic: topicName.optional().meta({
    description:
      'what the call belongs to: its memory, its containers, the keys that see it; else the key’s own',
  }),
  telemetry: givenTelemetry.optional().meta({ description: 'where and when the caller is asked' }),
  priority: z
    .int()
    .min(0)
    .max(priorityMax)
    .optional()
    .meta({ description: 'of what waits the highest goes first, then the oldest', default: priorityDefault }),
  delay_ms: z
    .int()
    .min(0)
    .max(delayMaxMs)
    .optional()
    .meta({ description: 'do not start before so long', default: 0 }),
  ttl_ms: z.int().min(1).max(ttlMaxMs).optional().meta({
    description: 'how long it may wait to start, counted from the end of the delay; then it is expired',
    default: ttlDefaultMs,
  }),
  metadata: metadata.optional().meta({
    description: `the caller’s own, ${metadataBytesMax} bytes of JSON at most; comes back, and the tool does not see it`,
  }),
  callback_url: webhookUrl
    .optional()
    .meta({ description: 'told when it has ended, once POST /webhooks/callback-secret was called' }),
  search_id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'of the search that led to this call, which its outcome teaches' }),
})

export const idempotencyKey = z
  .string()
  .min(1)
  .max(idempotencyKeyMax)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')

export const batchBody = z.strictObject({
  invocations: z
    .array(
      invokeBody.extend({
        tool: toolName,
        idempotency_key: idempotencyKey
          .optional()
          .meta({ description: 'as the header Idempotency-Key of a call alone' }),
      }),
    )
    .min(1)
    .max(100)
    .meta({ description: 'each has its own answer, in this order' }),
})

export const finalStatuses = ['succeeded', 'failed', 'timed_out', 'cancelled', 'expired'] as const
export const invocationStatuses = ['queued', 'running', ...finalStatuses] as const

export type FinalStatus = (typeof finalStatuses)[number]
export type InvocationStatus = (typeof invocationStatuses)[number]

export const isFinal = (status: InvocationStatus): status is FinalStatus =>
  finalStatuses.some((final) => final === status)

const resultShape = z.object({
  text: z.string().meta({ description: 'for a model, made safe and cut to 3,000 characters' }),
  html: z.string().nullable().meta({ description: 'a fragment, made safe' }),
  title: z.string().nullable(),
  data: anyJson.optional().meta({ description: 'for programs' }),
  card: anyJson
    .optional()
    .meta({ description: '{title, html, accent_color, background_color}, to be shown' }),
  output: z
    .object({ synthesize: z.boolean(), ephemeral: z.boolean() })
    .meta({ description: 'as the manifest says' }),
  truncated: z.boolean().meta({ description: 'text was cut' }),
  removed: z.int().meta({ description: 'how much was taken out of text to make it safe' }),
  budget_remaining: z.number().optional().meta({ description: 'what the tool says is left of its quota' }),
  llm_context: z.string().meta({ description: 'what a model is to be told of the call' }),
})

const failureShape = z.object({
  kind: z.enum([
    'tool_error',
    'exit_nonzero',
    'timeout',
    'out_of_memory',
    'output_too_large',
    'payload_too_large',
    'invalid_output',
    'cancelled',
    'expired',
    'image_unavailable',
    'sandbox_lost',
    'internal',
  ]),
  class: z.enum(['internal', 'external', 'platform', 'caller']).meta({
    description: 'whose it is: the tool’s own, somebody’s that the tool asked, the platform’s, the caller’s',
  }),
  message: z.string(),
  exit_code: z.int().optional(),
  stderr_tail: z.string().optional().meta({ description: 'with the scope invocations:raw' }),
})

export const invocationShape = z.object({
  id: z.string(),
  tool: z.string(),
  tool_version: z.string().nullable(),
  image_hash: z.string().meta({ description: 'of the version that ran or is to run' }),
  topic: z.string(),
  status: z.enum(invocationStatuses),
  waiting_for: z
    .enum(['no worker', 'image building', 'concurrency limit', 'delayed', 'tool_disabled', 'tools_disabled'])
    .optional()
    .meta({ description: 'while it is queued, unless only its turn is missing' }),
  attempts: z.int().meta({ description: 'how often it was started' }),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  queue_ms: z.number().nullable().meta({ description: 'from when it might start to its start' }),
  duration_ms: z.number().nullable().meta({ description: 'from its start to its end' }),
  result: resultShape.optional().meta({ description: 'when it has succeeded; not in lists' }),
  failure: failureShape.optional().meta({ description: 'when it has ended otherwise' }),
  reward: z.number().nullable().meta({ description: 'what its outcome is worth to the tool; null: nothing' }),
  feedback: z.number().optional().meta({ description: 'what a caller said that it was worth' }),
  metadata: anyJson.meta({ description: 'as it was given' }),
  links: z.object({
    self: z.string(),
    events: z.string(),
    cancel: z.string(),
    replay: z.string(),
    feedback: z.string(),
  }),
})

export const replayBody = z.strictObject({
  version: z
    .enum(['same', 'newest'])
    .default('newest')
    .meta({ description: 'same: the version that ran; newest: the one that serves now' }),
})

export const feedbackBody = z.strictObject({
  feedback: z.number().min(-1).max(1).meta({ description: 'once; takes the place of the reward' }),
})

export type InvokeBody = z.infer<typeof invokeBody>
export type FailureKind = z.infer<typeof failureShape>['kind']
/** `internal` and `external` are the tool's own words; `platform` is our fault, `caller` the caller's wish. */
export type FailureClass = z.infer<typeof failureShape>['class']
export type WaitingFor = NonNullable<z.infer<typeof invocationShape>['waiting_for']>
