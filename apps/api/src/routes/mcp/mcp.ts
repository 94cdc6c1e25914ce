import { createRoute, z } from '@hono/zod-openapi'
import {
  createMcpHandler,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import type { AccessKey } from '@toolyard/access/access-key'
import { AppError } from '@toolyard/contract/errors'
import { newPrefixedId } from '@toolyard/contract/ids'
import { oversize } from '@toolyard/contract/json-faults'
import { topicName } from '@toolyard/contract/keys'
import type { Json } from '@toolyard/contract/parameters'
import type { Api } from '../../create-api.ts'
import type { Guard, KeyCheck } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { isJsonObject } from '../tool-calls/is-json-object.ts'
import { bodyRefusals, refusals } from '../tools/route-parts.ts'
import type { CallsUnderWay } from './calls-under-way.ts'
import { createCallsUnderWay } from './calls-under-way.ts'
import { createMcpServer } from './create-mcp-server.ts'
import type { McpDeps } from './mcp-context.ts'

// Messages of the older versions may come many at once, and each can be a call.
const messagesMax = 100
const bodyLimits = { depthMax: 70, sizeMax: 8 * 1024 * 1024 }
const sessionHeader = 'mcp-session-id'
const sessionMax = 100

// What comes from a JSON text; its form is the protocol's to judge.
const anyJson: z.ZodType<Json> = z.any()

const query = z.strictObject({
  topic: topicName.optional().meta({ description: 'the topic of the calls' }),
  tools: z
    .enum(['all', 'find'])
    .default('all')
    .meta({ description: '`find`: only the tools that find and call others are listed' }),
})

const guardedByAny = (guard: Guard) => guarded(guard, 'tools:read', 'tools:invoke', 'invocations:read')

const postMcp = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/mcp',
    tags: ['tools'],
    ...guardedByAny(guard),
    summary: 'The tools, by the Model Context Protocol',
    description:
      'Streamable HTTP without sessions, for version 2026-07-28 and those before. Listing needs the scope `tools:read`, calling `tools:invoke`, resources `invocations:read` and stderr `invocations:raw` too.',
    request: { query, body: { required: true, content: { 'application/json': { schema: anyJson } } } },
    responses: {
      200: {
        description: 'What the protocol answers',
        content: { 'application/json': { schema: anyJson }, 'text/event-stream': { schema: z.string() } },
      },
      202: { description: 'A notification was taken' },
      ...problems(...refusals, ...bodyRefusals),
    },
  })

const otherMcp = (guard: Guard, method: 'get' | 'delete') =>
  createRoute({
    method,
    path: '/mcp',
    tags: ['tools'],
    ...guardedByAny(guard),
    summary: method === 'get' ? 'There is no stream beside the answers' : 'There is no session to end',
    responses: { 405: { description: 'Use POST' }, ...problems(...refusals) },
  })

export type McpRouteDeps = Omit<McpDeps, 'underWay'> & { guard: Guard; checkKey: KeyCheck }

export function addMcpRoute(api: Api, { guard, checkKey, ...rest }: McpRouteDeps): void {
  const underWay = createCallsUnderWay()
  const deps = { ...rest, underWay }

  api.openapi(postMcp(guard), async (c) => {
    const parsedBody = c.req.valid('json')
    refuseOversize(parsedBody)
    const { key } = callOf(c).actor
    const session = sessionOf(c.req.header(sessionHeader))
    // A page in a browser has no business here: it could be anybody's, in the name of who reads it.
    const refused = originValidationResponse(c.req.raw, localhostAllowedOrigins())
    if (refused === undefined) endCall(underWay, { body: parsedBody, key, session })
    const { topic, tools: view } = c.req.valid('query')
    const asked = { key, checkKey: checkKey(c), requestId: c.get('requestId'), topic, view, session }
    const handler = createMcpHandler(({ era }) => createMcpServer(deps, { ...asked, era }), {
      // Whoever waits hears that the connection still stands.
      responseMode: isMethod(parsedBody, 'tools/call') ? 'sse' : 'auto',
      onerror: (error) => c.get('event').set({ mcp_error: error.message }),
    })
    const answer = refused ?? (await handler.fetch(c.req.raw, { parsedBody }))
    if (session === undefined && isMethod(parsedBody, 'initialize'))
      c.header(sessionHeader, newPrefixedId('mcp'))
    // A proxy that collects answers would keep the events back.
    c.header('x-accel-buffering', 'no')
    c.header('content-type', answer.headers.get('content-type') ?? undefined)
    return new Response(answer.body, { status: answer.status, headers: c.res.headers })
  })
  for (const method of ['get', 'delete'] as const)
    api.openapi(otherMcp(guard, method), (c) => c.body(null, 405, { allow: 'POST' }))
}

function refuseOversize(body: Json): void {
  if (Array.isArray(body) && body.length > messagesMax)
    throw new AppError('payload_too_large', `At most ${messagesMax} messages may come at once`)
  const fault = oversize(body, bodyLimits)
  if (fault !== undefined) throw new AppError('invalid_request', `The message ${fault.detail}`)
}

/** A message that ends a call is about another request than the one it came with. */
function endCall(
  underWay: CallsUnderWay,
  { body, key, session }: { body: Json; key: AccessKey; session: string | undefined },
): void {
  for (const message of Array.isArray(body) ? body : [body]) {
    if (!isJsonObject(message) || message['method'] !== 'notifications/cancelled') continue
    const requestId = readRequestId(message['params'])
    if (requestId !== undefined) underWay.end({ keyId: key.id, session, requestId })
  }
}

function readRequestId(params: Json | undefined): string | number | undefined {
  if (params === undefined || !isJsonObject(params)) return undefined
  const { requestId } = params
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined
}

// No state is kept for it: it tells the requests of one client from those of others with the same key.
const sessionOf = (header: string | undefined) =>
  header !== undefined && header !== '' && header.length <= sessionMax ? header : undefined

const isMethod = (body: Json, method: string) => isJsonObject(body) && body['method'] === method
