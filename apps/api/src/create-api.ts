import { OpenAPIHono } from '@hono/zod-openapi'
import type { Verifier } from '@toolyard/access/verifier'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import type { Metrics } from '@toolyard/log/metrics'
import { createMiddleware } from 'hono/factory'
import { answerError } from './http/answer-error.ts'
import type { ApiEnv } from './http/api-env.ts'
import { createGuard } from './http/authenticate.ts'
import { createAddressReader } from './http/client-address.ts'
import { describeFaultsPlainly } from './http/describe-fault.ts'
import { limitBody } from './http/limit-body.ts'
import { observeRequest } from './http/observe-request.ts'
import { refuseInvalid } from './http/refuse-invalid.ts'
import { sendDataHeaders } from './http/security-headers.ts'
import type { Readiness } from './readiness.ts'
import { addAuditRoutes } from './routes/audit.ts'
import { addDocumentationRoutes } from './routes/documentation.ts'
import type { HealthDeps } from './routes/health.ts'
import { addHealthRoutes } from './routes/health.ts'
import { addKeyRoutes } from './routes/keys.ts'

export type Api = OpenAPIHono<ApiEnv>

export type ApiDeps = {
  pool: Pool
  verifier: Verifier
  readiness: Readiness
  log: Logger
  metrics: Metrics
  renderMetrics: HealthDeps['renderMetrics']
  bodyMaxBytes: number
  trustedProxies: number
}

/** The whole of HTTP: what holds for every request, then the routes. */
export function createApi(deps: ApiDeps): Api {
  const { pool, verifier, readiness, log, metrics, renderMetrics, bodyMaxBytes, trustedProxies } = deps
  const clientAddress = createAddressReader(trustedProxies)
  const guard = createGuard(verifier, clientAddress)
  const api: Api = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid })

  describeFaultsPlainly()
  api.use(observeRequest({ log, metrics, clientAddress }), sendDataHeaders, throwErrorsOnly)
  api.use(limitBody(bodyMaxBytes))
  api.onError(answerError)
  api.notFound((c) => answerError(new AppError('not_found', 'There is no such route; see /docs'), c))

  addHealthRoutes(api, { readiness, renderMetrics, guard })
  addKeyRoutes(api, { pool, guard })
  addAuditRoutes(api, { pool, guard })
  addDocumentationRoutes(api)
  return api
}

// What else is thrown, as the reason of an abort may be, would pass onError by, and with it the headers and the event.
const throwErrorsOnly = createMiddleware<ApiEnv>(async (_c, next) => {
  try {
    await next()
  } catch (error) {
    throw error instanceof Error ? error : new Error('What was thrown is no Error', { cause: error })
  }
})
