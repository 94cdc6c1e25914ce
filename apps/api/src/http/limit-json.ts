import type { AppError } from '@toolyard/contract/errors'
import { createMiddleware } from 'hono/factory'
import type { ApiEnv } from './api-env.ts'
import { createJsonRoom } from './json-room.ts'

/**
 * Refuses bodies with too many names and values when a handler reads them, before they are parsed. It reads nothing
 * itself, so that no one without a key can make the server take in a body.
 */
export const limitJson = createMiddleware<ApiEnv>(async (c, next) => {
  const { req } = c
  let refusal: AppError | undefined
  const readJson = req.json.bind(req)
  req.json = async <T>() => {
    refusal = createJsonRoom().refuse(await req.text())
    if (refusal !== undefined) throw refusal
    return readJson<T>()
  }
  await next()
  // Whoever reads the body takes this for malformed JSON.
  if (refusal !== undefined) throw refusal
})
