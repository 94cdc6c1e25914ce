import { createRoute, z } from '@hono/zod-openapi'
import {
  createMcpHandler,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import type { AccessKey } from '@toolyard/access/access-key'
import { newPrefixedId } from '@toolyard/contract/ids'
import { topicName } from '@toolyard/contract/keys'
import type { Json } from '@toolyard/contract/parameters'
import type { Api } from '../../create-api.ts'
import { createStreamSlots } from '../../events/stream-slots.ts'
import type { Guard, KeyCheck } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { isJsonObject } from '../tool-calls/is-json-object.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'
import type { CallsUnderWay } from './calls-under-way.ts'
import { createCallsUnderWay } from './calls-under-way.ts'
import { createMcpServer } from './create-mcp-server.ts'
import type { McpDeps } from './mcp-context.ts'
import { createReaderPace } from './reader-pace.ts'
import { refuseOversize } from './refuse-oversize.ts'

const sessionHeader = 'mcp-session-id'
const sessionMax = 100
// Each is a connection, and a look at its row every 5 s.
const waitLimits = { perProcess: 1_000, perKey: 200, what: 'calls that are waited for' }

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

export type McpRouteDeps = Omit<McpDeps, 'underWay' | 'waits'> & { guard: Guard; checkKey: KeyCheck }

export function addMcpRoute(api: Api, { guard, checkKey, ...rest }: McpRouteDeps): void {
  const underWay = createCallsUnderWay()
  const deps = { ...rest, underWay, waits: createStreamSlots(waitLimits) }

  api.openapi(postMcp(guard), async (c) => {
    const parsedBody = c.req.valid('json')
    refuseOversize(parsedBody)
    const { key } = callOf(c).actor
    const { requestId } = c.var
    const given = sessionOf(c.req.header(sessionHeader))
    // Without one, what comes in one request is all that belongs together.
    const session = given ?? requestId
    // A page in a browser has no business here: it could be anybody's, in the name of who reads it.
    const refused = originValidationResponse(c.req.raw, localhostAllowedOrigins())
    if (refused === undefined && (given !== undefined || Array.isArray(parsedBody)))
      endCalls(underWay, { body: parsedBody, key, session })
    const { topic, tools: view } = c.req.valid('query')
    const pace = createReaderPace({ onStalled: () => c.env.outgoing.destroy() })
    const asked = { key, checkKey: checkKey(c), requestId, topic, view, session, pace }
    const handler = createMcpHandler(({ era }) => createMcpServer(deps, { ...asked, era }), {
      // Whoever waits hears that the connection still stands.
      responseMode: isMethod(parsedBody, 'tools/call') ? 'sse' : 'auto',
      onerror: (error) => c.get('event').set({ mcp_error: describeFault(error) }),
    })
    const answer = refused ?? (await handler.fetch(c.req.raw, { parsedBody: withoutEnds(parsedBody) }))
    if (given === undefined && isMethod(parsedBody, 'initialize'))
      c.header(sessionHeader, newPrefixedId('mcp'))
    // A proxy that collects answers would keep the events back.
    c.header('x-accel-buffering', 'no')
    c.header('content-type', answer.headers.get('content-type') ?? undefined)
    const answerBody = answer.body === null ? null : pace.follow(answer.body)
    return new Response(answerBody, { status: answer.status, headers: c.res.headers })
  })
  for (const method of ['get', 'delete'] as const)
    api.openapi(otherMcp(guard, method), (c) => c.body(null, 405, { allow: 'POST' }))
}

/** A message that ends a call is about another one, which has come before it, comes with it, or is about to come. */
function endCalls(
  underWay: CallsUnderWay,
  { body, key, session }: { body: Json; key: AccessKey; session: string },
): void {
  for (const message of Array.isArray(body) ? body : [body]) {
    if (!isEnd(message)) continue
    const requestId = readRequestId(message['params'])
    if (requestId !== undefined) underWay.end({ keyId: key.id, session, requestId })
  }
}

/** The SDK answers no call that is ended in its own batch, and then waits for ever to have answered all. */
function withoutEnds(body: Json): Json {
  if (!Array.isArray(body)) return body
  const others = body.filter((message) => !isEnd(message))
  return others.length === 0 ? body : others
}

const isEnd = (message: Json): message is Record<string, Json> => isMethod(message, 'notifications/cancelled')

function readRequestId(params: Json | undefined): string | number | undefined {
  if (params === undefined || !isJsonObject(params)) return undefined
  const { requestId } = params
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined
}

// No state is kept for it: it tells the requests of one client from those of others with the same key.
const sessionOf = (header: string | undefined) =>
  header !== undefined && header !== '' && header.length <= sessionMax ? header : undefined

/** The protocol's own words up to where it quotes the caller, whose words have no business in the log. */
const describeFault = ({ name, message }: Error) =>
  [name, ...(/^[A-Za-z][A-Za-z ]{0,60}/.exec(message) ?? [])].join(': ')

const isMethod = (body: Json, method: string): body is Record<string, Json> =>
  isJsonObject(body) && body['method'] === method
