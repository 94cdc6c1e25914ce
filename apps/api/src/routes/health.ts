import { createRoute, z } from '@hono/zod-openapi'
import type { Metrics } from '@toolyard/log/metrics'
import { partStates } from '@toolyard/service/part'
import type { Api } from '../create-api.ts'
import type { Guard } from '../http/authenticate.ts'
import { guarded } from '../http/authenticate.ts'
import { problems } from '../http/problem.ts'
import type { Readiness } from '../readiness.ts'

const partShape = z.object({
  state: z.enum(partStates),
  detail: z.string().optional(),
})

const readinessShape = z
  .object({
    status: z.enum(['ready', 'degraded', 'unavailable']).meta({
      description:
        'degraded: calls are taken, and something behind does not go on; unavailable: calls cannot be taken',
    }),
    parts: z.record(z.string(), partShape),
  })
  .meta({ id: 'Readiness' })

const readinessContent = { content: { 'application/json': { schema: readinessShape } } }

const getHealthz = createRoute({
  method: 'get',
  path: '/healthz',
  tags: ['operation'],
  summary: 'Whether this process lives',
  responses: {
    200: {
      description: 'It lives',
      content: { 'application/json': { schema: z.object({ status: z.literal('alive') }) } },
    },
  },
})

const getReadyz = createRoute({
  method: 'get',
  path: '/readyz',
  tags: ['operation'],
  summary: 'Whether calls can be taken, and how each part is',
  responses: {
    200: { description: 'Calls are taken', ...readinessContent },
    503: { description: 'Calls cannot be taken', ...readinessContent },
  },
})

const getMetrics = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/metrics',
    tags: ['operation'],
    summary: 'What all processes count, for Prometheus',
    description: 'Scope `ops:view`.',
    ...guarded(guard, 'ops:view'),
    responses: {
      200: { description: 'Prometheus text', content: { 'text/plain': { schema: z.string() } } },
      ...problems('unauthenticated', 'missing_scope', 'rate_limited', 'store_unavailable'),
    },
  })

export type HealthDeps = {
  readiness: Readiness
  renderMetrics: () => ReturnType<Metrics['render']>
  guard: Guard
}

export function addHealthRoutes(api: Api, { readiness, renderMetrics, guard }: HealthDeps): void {
  api.openapi(getHealthz, (c) => c.json({ status: 'alive' as const }, 200))
  api.openapi(getReadyz, async (c) => {
    const report = await readiness.report()
    return c.json(report, report.status === 'unavailable' ? 503 : 200)
  })
  api.openapi(getMetrics(guard), async (c) => {
    const { contentType, text } = await renderMetrics()
    return c.text(text, 200, { 'content-type': contentType })
  })
}
