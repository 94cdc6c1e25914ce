import type { Context } from 'hono'
import type { ApiEnv } from './api-env.ts'
import { problemType, statusOf, toProblem, toRefusal } from './problem.ts'

// What passes by itself says when to come again, also where nobody reckoned how long it will take.
const comeAgainSeconds: Readonly<Record<number, number>> = { 429: 1, 503: 1 }

/** The answer to whatever was thrown on the way, and its mark in the request's event. */
export function answerError(error: unknown, c: Context<ApiEnv>): Response {
  const refusal = toRefusal(error)
  const status = statusOf[refusal.code]
  c.get('event').set({
    code: refusal.code,
    ...(refusal.faults.length === 0 ? {} : { faults: refusal.faults.length }),
    ...(refusal.cause === undefined ? {} : { error: refusal.cause }),
  })
  const retryAfter = refusal.retryAfterSeconds ?? comeAgainSeconds[status]
  if (retryAfter !== undefined) c.header('retry-after', String(retryAfter))
  if (status === 401) c.header('www-authenticate', 'Bearer realm="toolyard"')
  c.header('content-type', problemType)
  return c.body(JSON.stringify(toProblem(refusal, c.get('requestId'))), status)
}
