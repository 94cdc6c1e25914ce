import type { Json } from '@toolyard/contract/parameters'
import type { WebhookEvent } from '@toolyard/contract/webhooks'
import type { Invocation } from '@toolyard/invocations/invocation'
import { toInvocationShape } from '@toolyard/invocations/invocation-shape'

/** What a message says at most. A receiver that needs more follows the links. */
export const bodyBytesMax = 20_000

// Beside it stand the event, its time, the tool and the topic.
const eventDataBytesMax = 16_000

export type Subject = { event: WebhookEvent; createdAt: Date }

/** Thin: what a reader needs first, and links to the rest. The same bytes for each try, so that ids and bodies agree. */
export function invocationMessage(subject: Subject, invocation: Invocation): Buffer {
  const { result, failure, metadata, ...rest } = toInvocationShape(invocation)
  // Given later, and only to whoever asks.
  const { feedback: _, reward: __, ...facts } = rest
  const whole = write(subject, {
    ...facts,
    ...(result === undefined
      ? {}
      : { result: { title: result.title, text: result.text, truncated: result.truncated } }),
    ...(failure === undefined
      ? {}
      : { failure: { kind: failure.kind, class: failure.class, message: failure.message } }),
    metadata,
  })
  if (whole.length <= bodyBytesMax) return whole
  return write(subject, { ...facts, metadata: {}, omitted: 'too large: follow links.self' })
}

export type PlatformFacts = { tool: string; topic: string | null; data: Readonly<Record<string, Json>> }

/** Of what is no end of an invocation. */
export const eventMessage = (subject: Subject, { tool, topic, data }: PlatformFacts): Buffer =>
  write(subject, { ...data, tool, topic })

/** What there is to say of an event, as far as it fits. */
export function fitEventData(data: PlatformFacts['data']): PlatformFacts['data'] {
  const fits = Buffer.byteLength(JSON.stringify(data)) <= eventDataBytesMax
  return fits ? data : { omitted: 'too large' }
}

const write = ({ event, createdAt }: Subject, data: object) =>
  Buffer.from(JSON.stringify({ type: event, timestamp: createdAt.toISOString(), data }))
