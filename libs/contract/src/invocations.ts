import { z } from 'zod'
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
  /** Held to the tool's manifest after this. */
  params: z.record(z.string(), anyJson).default({}),
  topic: topicName.optional(),
  telemetry: givenTelemetry.optional(),
  priority: z.int().min(0).max(9).optional(),
  delay_ms: z.int().min(0).max(2_592_000_000).optional(),
  ttl_ms: z.int().min(1).max(604_800_000).optional(),
  metadata: metadata.optional(),
  /** Told when it has ended: see `GET /webhooks/callback-secret`. */
  callback_url: webhookUrl.optional(),
  search_id: z.string().min(1).max(200).optional(),
})

export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')

export const batchBody = z.strictObject({
  invocations: z
    .array(invokeBody.extend({ tool: toolName, idempotency_key: idempotencyKey.optional() }))
    .min(1)
    .max(100),
})

export const invocationStatuses = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'expired',
] as const

const resultShape = z.object({
  text: z.string(),
  html: z.string().nullable(),
  title: z.string().nullable(),
  data: anyJson.optional(),
  card: anyJson.optional(),
  output: z.object({ synthesize: z.boolean(), ephemeral: z.boolean() }),
  truncated: z.boolean(),
  removed: z.int(),
  budget_remaining: z.number().optional(),
  llm_context: z.string(),
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
  class: z.enum(['internal', 'external', 'platform', 'caller']),
  message: z.string(),
  exit_code: z.int().optional(),
  stderr_tail: z.string().optional(),
})

export const invocationShape = z.object({
  id: z.string(),
  tool: z.string(),
  tool_version: z.string().nullable(),
  image_hash: z.string(),
  topic: z.string(),
  status: z.enum(invocationStatuses),
  waiting_for: z
    .enum(['no worker', 'image building', 'concurrency limit', 'delayed', 'tools_disabled'])
    .optional(),
  attempts: z.int(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  queue_ms: z.number().nullable(),
  duration_ms: z.number().nullable(),
  result: resultShape.optional(),
  failure: failureShape.optional(),
  reward: z.number().nullable(),
  feedback: z.number().optional(),
  metadata: anyJson,
  links: z.object({
    self: z.string(),
    events: z.string(),
    cancel: z.string(),
    replay: z.string(),
    feedback: z.string(),
  }),
})

export const replayBody = z.strictObject({
  version: z.enum(['same', 'newest']).default('newest'),
})

export const feedbackBody = z.strictObject({ feedback: z.number().min(-1).max(1) })

export type InvokeBody = z.infer<typeof invokeBody>
