import {
  McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { ServerContext } from '@modelcontextprotocol/server'
import { requireScope } from '@toolyard/access/require-scope'
import { AppError } from '@toolyard/contract/errors'
import type { Json } from '@toolyard/contract/parameters'
import { cancel } from '@toolyard/invocations/cancel'
import { getInvocation } from '@toolyard/invocations/get'
import type { LogLevel } from '@toolyard/log/logger'
import { startWideEvent } from '@toolyard/log/wide-event'
import { z } from 'zod'
import { toRefusal } from '../../http/problem.ts'
import { callableTools } from '../tools/callable-tools.ts'
import { callMcpTool } from './call-mcp-tool.ts'
import { listResources, readResource, resourceTemplates } from './invocation-resources.ts'
import { takesTasks, tasksExtension, toTask } from './invocation-tasks.ts'
import { listMcpTools } from './list-mcp-tools.ts'
import type { McpDeps, McpMessage, McpRequest } from './mcp-context.ts'

const implementation = { name: 'toolyard', version: '0.1.0' }
const instructions =
  'Each tool runs in a container of its own. A call that takes long tells how it stands; its result stays readable as a resource.'

/** A server for one request. Nothing of it outlives the request: what lasts is the invocation. */
export function createMcpServer(deps: McpDeps, request: McpRequest): McpServer {
  const { pool, catalog } = deps
  const { key, era } = request
  const extensions = era === 'modern' ? { extensions: { [tasksExtension]: {} } } : {}
  // Without a word the SDK promises to tell of changes, and nobody here watches for them.
  const unwatched = { listChanged: false }
  const mcp = new McpServer(implementation, {
    capabilities: { tools: unwatched, resources: unwatched, ...extensions },
    instructions,
  })
  // Its own way with tools is for those that a program registers; these come and go in the catalog.
  const { server } = mcp
  const answer = createAnswerer(deps, request)

  server.setRequestHandler('tools/list', ({ method, params }) =>
    answer(method, async () => {
      requireScope(key, 'tools:read')
      const callable = await callableTools(pool, { view: await catalog.view(), key })
      const page = listMcpTools(callable, { view: request.view, cursor: params?.cursor })
      if (page === undefined) throw new AppError('invalid_request', 'The cursor is none of this list')
      return page
    }),
  )
  server.setRequestHandler('tools/call', ({ method, params }, context) =>
    answer(method, (message) => {
      // safe because it comes from a JSON text
      const given = (params.arguments ?? {}) as Record<string, Json>
      return callMcpTool(deps, message, { name: params.name, given }, context)
    }),
  )
  server.setRequestHandler('resources/list', ({ method, params }) =>
    answer(method, () => listResources(pool, key, params?.cursor)),
  )
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }))
  server.setRequestHandler('resources/read', ({ method, params }) =>
    answer(method, () => readResource(pool, key, params.uri)),
  )
  if (era === 'modern') addTaskHandlers(server, deps, request)
  return mcp
}

const taskParams = z.looseObject({ taskId: z.string().max(100) })

function addTaskHandlers(server: McpServer['server'], deps: McpDeps, request: McpRequest): void {
  const { key } = request
  const actor = { kind: 'key', key } as const
  const read = async (taskId: string) => {
    const one = await getInvocation(deps.pool, actor, taskId)
    // Whoever may only call tools is told of its own calls, as over HTTP, and not that there are others.
    if (one.keyId === key.id || key.scopes.includes('invocations:read')) return one
    throw new AppError('not_found', 'There is no such task')
  }
  const answer = createAnswerer(deps, request)
  const told = <T>(context: ServerContext, give: () => Promise<T>) => {
    requireTasks(context)
    return answer(context.mcpReq.method, give)
  }
  server.setRequestHandler('tasks/get', { params: taskParams }, ({ taskId }, context) =>
    told(context, async () => toTask(await read(taskId))),
  )
  server.setRequestHandler('tasks/cancel', { params: taskParams }, ({ taskId }, context) =>
    told(context, async () => {
      requireScope(key, 'tools:invoke')
      await cancel(deps, actor, { id: taskId, within: deps.within })
      return {}
    }),
  )
  // No tool of ours asks its caller for anything, so there is nothing that an update could bring.
  server.setRequestHandler('tasks/update', { params: taskParams }, ({ taskId }, context) =>
    told(context, async () => {
      await read(taskId)
      return {}
    }),
  )
}

function requireTasks({ mcpReq }: ServerContext): void {
  if (takesTasks(mcpReq.envelope)) return
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [tasksExtension]: {} } },
  })
}

/** Each message has a line of its own in the log. What nobody foresaw is told as little here as it is over HTTP. */
function createAnswerer({ log }: McpDeps, request: McpRequest) {
  return async <T>(method: string, give: (message: McpMessage) => Promise<T>): Promise<T> => {
    const { requestId, key } = request
    const event = startWideEvent(log, 'mcp', { request_id: requestId, key_id: key.id, method })
    let level: LogLevel = 'info'
    try {
      return await give({ ...request, event })
    } catch (error) {
      if (ProtocolError.isInstance(error)) throw error
      const refusal = toRefusal(error)
      if (refusal.code === 'internal') level = 'error'
      event.set({ code: refusal.code, ...(refusal.cause === undefined ? {} : { error: refusal.cause }) })
      throw new ProtocolError(protocolCodeOf(refusal), `${refusal.code}: ${refusal.message}`)
    } finally {
      event.emit(level)
    }
  }
}

const ours = new Set(['internal', 'store_unavailable', 'rate_limited'])
const protocolCodeOf = ({ code }: AppError) =>
  ours.has(code) ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
