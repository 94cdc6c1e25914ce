import { AppError } from '@toolyard/contract/errors'
import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import type { ApiEnv } from './api-env.ts'

/** Refuses bodies over `maxBytes` before they are read, or, where their length is not told, while they are. */
export function limitBody(maxBytes: number) {
  const refuse = (): never => {
    throw new AppError('payload_too_large', `The body may be at most ${maxBytes} bytes`)
  }
  const limitStream = bodyLimit({ maxSize: maxBytes, onError: refuse })
  return createMiddleware<ApiEnv>(async (c, next) => {
    const declared = c.req.header('content-length')
    // The server itself sees to it that no more arrives than was declared.
    if (declared === undefined || c.req.header('transfer-encoding') !== undefined) return limitStream(c, next)
    if (Number(declared) > maxBytes) refuse()
    return next()
  })
}
