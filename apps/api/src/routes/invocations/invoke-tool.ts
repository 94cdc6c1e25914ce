import { createRoute, z } from '@hono/zod-openapi'
import { batchBody, idempotencyKey, invokeBody, isFinal } from '@toolyard/contract/invocations'
import { toInvocationShape } from '@toolyard/invocations/invocation-shape'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problemShape, problems, toProblem, toRefusal } from '../../http/problem.ts'
import { bodyRefusals, refusals, submitRefusals } from '../../http/refusals.ts'
import { toolParam } from '../../http/tool-param.ts'
import { awaitEnd } from './await-end.ts'
import { invocation, invocationAnswer } from './invocation-schema.ts'
import { preferredWaitMs } from './prefer-wait.ts'
import type { SubmitRequestDeps } from './submit-request.ts'
import { submitRequest } from './submit-request.ts'

const invokeRefusals = [
  ...refusals,
  ...bodyRefusals,
  ...submitRefusals,
  'not_found',
  'topic_required',
  'invalid_params',
  'idempotency_mismatch',
] as const

const headers = z.object({
  'idempotency-key': idempotencyKey.optional(),
  prefer: z.string().max(500).optional(),
})

const postInvoke = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/tools/{name}/invoke',
    tags: ['invocations'],
    ...guarded(guard, 'tools:invoke'),
    summary: 'Run a tool',
    description:
      'Scope `tools:invoke`. Answers at once with the invocation; with `Prefer: wait=N` (60 at most) it waits that long for its end. The same `Idempotency-Key` with the same body is the same invocation for 24 hours.',
    request: {
      params: toolParam,
      headers,
      body: { required: true, content: { 'application/json': { schema: invokeBody } } },
    },
    responses: {
      200: invocationAnswer('It has ended'),
      202: invocationAnswer('It is accepted'),
      ...problems(...invokeRefusals),
    },
  })

const batchAnswer = z.union([
  z.object({ status: z.literal(202), invocation }),
  z.object({ status: z.int(), problem: problemShape }),
])

const postBatch = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/invocations/batch',
    tags: ['invocations'],
    ...guarded(guard, 'tools:invoke'),
    summary: 'Run up to 100 tools',
    description: 'Scope `tools:invoke`. Each has its own answer, in the order of the request.',
    request: { body: { required: true, content: { 'application/json': { schema: batchBody } } } },
    responses: {
      200: {
        description: 'One answer each',
        content: { 'application/json': { schema: z.object({ invocations: z.array(batchAnswer) }) } },
      },
      ...problems(...refusals, ...bodyRefusals),
    },
  })

export type InvokeToolDeps = SubmitRequestDeps & { watcher: Watcher; guard: Guard }

export function addInvokeToolRoutes(api: Api, deps: InvokeToolDeps): void {
  const { guard } = deps

  api.openapi(postInvoke(guard), async (c) => {
    const { actor } = callOf(c)
    const { key } = actor
    const { name: tool } = c.req.valid('param')
    const given = c.req.valid('header')
    const accepted = await submitRequest(deps, {
      key,
      tool,
      body: c.req.valid('json'),
      idempotencyKey: given['idempotency-key'],
    })
    const { id } = accepted.invocation
    c.get('event').set({ invocation_id: id, tool })
    c.header('location', `/invocations/${id}`)
    if (accepted.replayed) c.header('idempotency-replayed', 'true')
    const now = await awaitEnd(deps, accepted.invocation, {
      actor,
      waitMs: preferredWaitMs(given.prefer, 0),
      signal: c.req.raw.signal,
      event: c.get('event'),
    })
    return isFinal(now.status) ? c.json(toInvocationShape(now), 200) : c.json(toInvocationShape(now), 202)
  })

  api.openapi(postBatch(guard), async (c) => {
    const { key } = callOf(c).actor
    const requests = c.req.valid('json').invocations.map(({ tool, idempotency_key, ...body }) => ({
      key,
      tool,
      body,
      idempotencyKey: idempotency_key,
    }))
    const answers = await Promise.all(
      requests.map(async (request) => {
        try {
          const { invocation: accepted } = await submitRequest(deps, request)
          return { status: 202 as const, invocation: toInvocationShape(accepted) }
        } catch (error) {
          const refusal = toRefusal(error)
          // The others are accepted already, so what broke on our side is told for this one, and in the log.
          if (refusal.code === 'internal') c.get('event').set({ code: refusal.code, error: refusal.cause })
          const problem = toProblem(refusal, c.get('requestId'))
          return { status: problem.status, problem }
        }
      }),
    )
    return c.json({ invocations: answers }, 200)
  })
}
