import { AppError } from '@toolyard/contract/errors'
import { createMiddleware } from 'hono/factory'
import type { ApiEnv } from './api-env.ts'

/** How large a body may be, by the path of the request. */
export type BodyLimit = (path: string) => number

/**
 * Refuses bodies over their limit: at once where their length is told, else when a handler reads beyond. It reads
 * nothing itself, so that no one without a key can make the server take in a body.
 */
export function limitBody(limit: BodyLimit) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    const maxBytes = limit(c.req.path)
    const tooLarge = () => new AppError('payload_too_large', `The body may be at most ${maxBytes} bytes`)
    if (c.req.header('transfer-encoding') === undefined) {
      // The server itself sees to it that no more arrives than was declared.
      if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge()
      return next()
    }
    const { body } = c.req.raw
    if (body === null) return next()
    const counted = countBytes(body, maxBytes)
    const limited: RequestInit = { body: counted.stream, duplex: 'half' }
    c.req.raw = new Request(c.req.raw, limited)
    await next()
    // Whoever reads the body takes the broken stream for something else, such as malformed JSON.
    if (counted.isOver()) throw tooLarge()
  })
}

function countBytes(body: ReadableStream<Uint8Array>, maxBytes: number) {
  let size = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength
      if (size > maxBytes) controller.error(new Error('The body is larger than the limit'))
      else controller.enqueue(chunk)
    },
  })
  return { stream: body.pipeThrough(counter), isOver: () => size > maxBytes }
}
