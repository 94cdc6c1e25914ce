import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { EpochWatch } from '@toolyard/access/epoch-watch'
import type { Verifier } from '@toolyard/access/verifier'
import type { Catalog } from '@toolyard/catalog/create-catalog'
import { describeIssue } from '@toolyard/contract/describe-issue'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import type { AfterCommit } from '@toolyard/invocations/after-commit'
import type { Within } from '@toolyard/invocations/close-rows'
import type { Submitter } from '@toolyard/invocations/submitter'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { Logger } from '@toolyard/log/logger'
import type { Metrics } from '@toolyard/log/metrics'
import type { Queues } from '@toolyard/queue/queues'
import type { ToolSearch } from '@toolyard/relevance/create-tool-search'
import { createScheduleDeps } from '@toolyard/schedules/fire-due'
import type { Vault } from '@toolyard/vault/open-vault'
import { createMiddleware } from 'hono/factory'
import type { InvocationEvents } from './events/invocation-events.ts'
import { answerError } from './http/answer-error.ts'
import type { ApiEnv } from './http/api-env.ts'
import { createGuard, createKeyCheck } from './http/authenticate.ts'
import { createAddressReader } from './http/client-address.ts'
import { limitBody } from './http/limit-body.ts'
import { limitJson } from './http/limit-json.ts'
import { observeRequest } from './http/observe-request.ts'
import { refuseInvalid } from './http/refuse-invalid.ts'
import { sendDataHeaders } from './http/security-headers.ts'
import { addOpsRoutes } from './ops/add-ops-routes.ts'
import { signInMaxBytes, signInPath } from './ops/add-session-routes.ts'
import type { Readiness } from './readiness.ts'
import { addAuditRoutes } from './routes/audit.ts'
import { addDocumentationRoutes } from './routes/documentation.ts'
import type { HealthDeps } from './routes/health.ts'
import { addHealthRoutes } from './routes/health.ts'
import type { HookLimits } from './routes/hooks/add-hook-route.ts'
import { addHookRoute, hookMaxBytes } from './routes/hooks/add-hook-route.ts'
import { addChangeInvocationsRoutes } from './routes/invocations/change-invocations.ts'
import { addFollowInvocationRoute } from './routes/invocations/follow-invocation.ts'
import { addInvokeToolRoutes } from './routes/invocations/invoke-tool.ts'
import { addReadInvocationsRoutes } from './routes/invocations/read-invocations.ts'
import { addKeyRoutes } from './routes/keys.ts'
import { addMcpRoute } from './routes/mcp/mcp.ts'
import { addNotificationRoutes } from './routes/prompts/notifications.ts'
import { addPromptRoutes } from './routes/prompts/prompts.ts'
import { addRunScheduleRoutes } from './routes/schedules/run-schedules.ts'
import { addScheduleRoutes } from './routes/schedules/schedules.ts'
import { addSearchToolsRoute } from './routes/search/search-tools.ts'
import { addToolCallRoute } from './routes/tool-calls/tool-calls.ts'
import { addConfigureToolRoutes } from './routes/tools/configure-tool.ts'
import { addListToolsRoutes } from './routes/tools/list-tools.ts'
import { addMemoryRoutes } from './routes/memory.ts'
import { addDeliveryRoutes } from './routes/webhooks/deliveries.ts'
import { addWebhookRoutes } from './routes/webhooks/webhooks.ts'
import { addReloadToolsRoutes } from './routes/tools/reload-tools.ts'
import type { GuardRules } from '@toolyard/webhooks/guard-rules'
import { addSwitchToolsRoutes } from './routes/tools/switch-tools.ts'
import { addToolVersionsRoutes } from './routes/tools/tool-versions.ts'

export type Api = OpenAPIHono<ApiEnv>

export type ApiDeps = {
  pool: Pool
  catalog: Catalog
  /** Pending while it cannot be opened yet. */
  vault: () => Promise<Vault>
  submitter: Submitter
  afterCommit: AfterCommit
  /** What else is written when invocations are closed. */
  within: Within
  watcher: Watcher
  events: InvocationEvents
  queues: Pick<Queues, 'boardQueues' | 'ping'>
  watch: EpochWatch
  verifier: Verifier
  readiness: Readiness
  log: Logger
  metrics: Metrics
  renderMetrics: HealthDeps['renderMetrics']
  bodyMaxBytes: number
  trustedProxies: number
  allowWritable: boolean
  hookLimits: HookLimits
  /** For so long it is known what became of a tick. */
  keepTicksDays: number
  /** Where webhooks and callbacks may go. */
  webhookRules: GuardRules
  toolSearch: ToolSearch
}

// Params of a tool that takes them on stdin; those of others are held to less by their manifest.
const invokeMaxBytes = 5_242_880
const isInvoke = /^\/(?:tools\/[^/]+\/invoke|tool-calls|mcp)$/
const isHook = /^\/hooks\/[^/]+$/

function bodyLimitOf(path: string, bodyMaxBytes: number): number {
  if (path === signInPath) return signInMaxBytes
  if (isHook.test(path)) return hookMaxBytes
  return isInvoke.test(path) ? Math.max(bodyMaxBytes, invokeMaxBytes) : bodyMaxBytes
}

/** The whole of HTTP: what holds for every request, then the routes. */
export function createApi(deps: ApiDeps): Api {
  const {
    pool,
    catalog,
    vault,
    submitter,
    afterCommit,
    within,
    watcher,
    events,
    verifier,
    readiness,
    log,
    metrics,
    renderMetrics,
    bodyMaxBytes,
    trustedProxies,
  } = deps
  const clientAddress = createAddressReader(trustedProxies)
  const guard = createGuard(verifier, clientAddress)
  const checkKey = createKeyCheck(verifier, clientAddress)
  const api: Api = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid })

  // One setting for the process.
  z.config({ localeError: describeIssue })
  api.use(observeRequest({ log, metrics, clientAddress }), sendDataHeaders, throwErrorsOnly)
  api.use(
    limitBody((path) => bodyLimitOf(path, bodyMaxBytes)),
    limitJson,
  )
  api.onError(answerError)
  api.notFound((c) => answerError(new AppError('not_found', 'There is no such route; see /docs'), c))

  addHealthRoutes(api, { readiness, renderMetrics, guard })
  addKeyRoutes(api, { pool, guard })
  addAuditRoutes(api, { pool, guard })
  addListToolsRoutes(api, { pool, catalog, guard, rules: { allowWritable: deps.allowWritable } })
  addSearchToolsRoute(api, { ...deps, guard })
  addSwitchToolsRoutes(api, { pool, guard })
  addReloadToolsRoutes(api, { pool, guard })
  addToolVersionsRoutes(api, { pool, guard })
  addConfigureToolRoutes(api, { catalog, vault, guard })
  addMemoryRoutes(api, { pool, catalog, guard })
  const { webhookRules } = deps
  // Before those with an id in the same place.
  addDeliveryRoutes(api, { pool, vault, webhookRules, guard, afterCommit })
  addWebhookRoutes(api, { pool, vault, webhookRules, guard })
  addInvokeToolRoutes(api, { pool, catalog, submitter, watcher, webhookRules, guard })
  addToolCallRoute(api, { ...deps, guard })
  addMcpRoute(api, { ...deps, isLeaving: () => readiness.isDraining(), guard, checkKey })
  addReadInvocationsRoutes(api, { pool, watcher, guard })
  addFollowInvocationRoute(api, { pool, events, guard, checkKey })
  addChangeInvocationsRoutes(api, { pool, catalog, submitter, afterCommit, within, guard })
  const schedules = createScheduleDeps({ pool, afterCommit, within })
  addScheduleRoutes(api, { schedules, guard })
  addRunScheduleRoutes(api, { schedules, knownDays: deps.keepTicksDays, guard })
  addPromptRoutes(api, { pool, guard })
  addNotificationRoutes(api, { pool, catalog, submitter, webhookRules, guard })
  addHookRoute(api, { ...deps, clientAddress, limits: deps.hookLimits })
  addOpsRoutes(api, { ...deps, guard, clientAddress })
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
