import { createRoute, z } from '@hono/zod-openapi'
import type { AccessKey } from '@toolyard/access/access-key'
import { idempotencyKey, invokeBody } from '@toolyard/contract/invocations'
import type { Json } from '@toolyard/contract/parameters'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { WideEvent } from '@toolyard/log/wide-event'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import type { JsonRoom } from '../../http/json-room.ts'
import { createJsonRoom } from '../../http/json-room.ts'
import { problems, toRefusal } from '../../http/problem.ts'
import { awaitEnd } from '../invocations/await-end.ts'
import { preferredWaitMs } from '../invocations/prefer-wait.ts'
import type { SubmitRequestDeps } from '../invocations/submit-request.ts'
import { submitRequest } from '../invocations/submit-request.ts'
import { toldOfEnd, toldOfRefusal } from '../invocations/told-of-end.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'
import type { CallAnswer } from './answer-call.ts'
import { answerCall, callAnswer } from './answer-call.ts'
import { readCall } from './read-call.ts'

const callsMax = 100
// A model that asked for something waits for it: whoever says nothing wants the results.
const waitDefaultMs = 60_000
// Each call's own key is this one and its place.
const idempotencyKeyMax = 240

// What comes from a JSON text; each call is read by itself.
const anyJson: z.ZodType<Json> = z.any()
const calls = z.array(anyJson).min(1).max(callsMax)
const shared = invokeBody.pick({ topic: true, search_id: true })
const body = z.union([calls, shared.extend({ tool_calls: calls })])

const headers = z.object({
  prefer: z.string().max(500).optional(),
  'idempotency-key': idempotencyKey.max(idempotencyKeyMax).optional(),
})

const postToolCalls = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/tool-calls',
    tags: ['invocations'],
    ...guarded(guard, 'tools:invoke'),
    summary: 'Run the tools that a model has called',
    description:
      'Scope `tools:invoke`. Takes the calls as a model made them, `tool_calls` of one provider or `tool_use` blocks of the other, and answers each in kind and in order. What is wrong with one call is its own answer and no fault of the others. Waits for the ends, 60 seconds at most, or as long as `Prefer: wait=N` says. A list is answered with a list; `{"tool_calls": […], "topic": …, "search_id": …}` with `{"results": […]}`.',
    request: { headers, body: { required: true, content: { 'application/json': { schema: body } } } },
    responses: {
      200: {
        description: 'One result each',
        content: {
          'application/json': {
            schema: z.union([z.array(callAnswer), z.object({ results: z.array(callAnswer) })]),
          },
        },
      },
      ...problems(...refusals, ...bodyRefusals),
    },
  })

export type ToolCallDeps = SubmitRequestDeps & { watcher: Watcher }

export function addToolCallRoute(api: Api, { guard, ...deps }: ToolCallDeps & { guard: Guard }): void {
  api.openapi(postToolCalls(guard), async (c) => {
    const given = c.req.valid('json')
    const { prefer, 'idempotency-key': sharedKey } = c.req.valid('header')
    const { tool_calls, ...common } = Array.isArray(given) ? { tool_calls: given } : given
    const running = {
      key: callOf(c).actor.key,
      common,
      waitMs: preferredWaitMs(prefer, waitDefaultMs),
      signal: c.req.raw.signal,
      event: c.get('event'),
      room: createJsonRoom(),
    }
    const results = await Promise.all(
      tool_calls.map((call, index) =>
        runCall(deps, call, {
          ...running,
          idempotencyKey: sharedKey === undefined ? undefined : `${sharedKey}:${index}`,
        }),
      ),
    )
    return c.json(Array.isArray(given) ? results : { results }, 200)
  })
}

type Running = {
  key: AccessKey
  /** Of all these calls. */
  common: z.infer<typeof shared>
  idempotencyKey: string | undefined
  waitMs: number
  signal: AbortSignal
  event: Pick<WideEvent, 'set'>
  room: JsonRoom
}

/** Whatever becomes of one call is its answer: the others are accepted already. */
async function runCall(deps: ToolCallDeps, given: Json, running: Running): Promise<CallAnswer> {
  const { key, common, idempotencyKey: ownKey, event } = running
  const call = readCall(given, running.room)
  if ('fault' in call)
    return answerCall(call, { success: false, output: `Error: ${call.fault}`, error: call.fault })
  try {
    const { invocation } = await submitRequest(deps, {
      key,
      tool: call.tool,
      body: { ...common, params: call.params },
      idempotencyKey: ownKey,
    })
    const end = await awaitEnd(deps, invocation, { ...running, actor: { kind: 'key', key } })
    return answerCall(call, toldOfEnd(end), end)
  } catch (error) {
    const refusal = toRefusal(error)
    if (refusal.code === 'internal') event.set({ code: refusal.code, error: refusal.cause })
    return answerCall(call, toldOfRefusal(refusal))
  }
}
