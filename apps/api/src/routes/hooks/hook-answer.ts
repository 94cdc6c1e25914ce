import { z } from '@hono/zod-openapi'
import { invocationShape, invocationStatuses } from '@toolyard/contract/invocations'
import type { Invocation } from '@toolyard/invocations/invocation'
import { toInvocationShape } from '@toolyard/invocations/invocation-shape'

const { result, failure } = invocationShape.shape

export const acceptedHook = z
  .object({ id: z.string().meta({ description: 'of the invocation; it is read with a key' }) })
  .meta({ id: 'AcceptedHook' })

export const endedHook = z
  .object({
    id: z.string(),
    status: z.enum(invocationStatuses),
    result: result.unwrap().pick({ text: true, title: true, data: true }).optional(),
    failure: failure.unwrap().pick({ kind: true }).optional(),
  })
  .meta({ id: 'EndedHook' })

/**
 * What the sender is told of the end: what the tool says to be read. Why it failed is for the holders of keys, as its
 * message may be the end of what the tool wrote to stderr.
 */
export function toEndedHook(one: Invocation): z.infer<typeof endedHook> {
  const shape = toInvocationShape(one)
  const { id, status } = shape
  if (shape.result !== undefined) {
    const { text, title, data } = shape.result
    return { id, status, result: { text, title, ...(data === undefined ? {} : { data }) } }
  }
  return { id, status, ...(shape.failure === undefined ? {} : { failure: { kind: shape.failure.kind } }) }
}
