import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import { requireScope } from '@toolyard/access/require-scope'
import { coerceParams } from '@toolyard/contract/coerce-params'
import { AppError } from '@toolyard/contract/errors'
import type { Json } from '@toolyard/contract/parameters'
import { cancel } from '@toolyard/invocations/cancel'
import type { Invocation } from '@toolyard/invocations/invocation'
import { isFinal } from '@toolyard/contract/invocations'
import { toRefusal } from '../../http/problem.ts'
import { submitRequest } from '../invocations/submit-request.ts'
import { toldOfRefusal } from '../invocations/told-of-end.ts'
import { isJsonObject } from '../tool-calls/is-json-object.ts'
import { callableTools } from '../tools/callable-tools.ts'
import { callParameters, callToolName, findTools, findToolsName, withoutEmpty } from './find-tools.ts'
import { describeProgress, followCall } from './follow-call.ts'
import { takesTasks, toTaskStart } from './invocation-tasks.ts'
import { offeredPlatformTools } from './list-mcp-tools.ts'
import type { McpDeps, McpMessage } from './mcp-context.ts'
import { toFailedResult, toToolResult } from './to-tool-result.ts'

// The longest time of a tool, and as much again for the queue. Whoever takes tasks need not wait.
const waitMs = 1_800_000
const taskAfterMs = 750

// No model could mend these, and its host should hear of them.
const thrown: ReadonlySet<string> = new Set(['unknown_tool', 'missing_scope', 'unauthenticated'])

type Call = {
  name: string
  given: Record<string, Json>
  /** The search that led to it. */
  searchId?: string
}

/** The answer to `tools/call`. What a model could mend is a result that says so; the rest is thrown. */
export async function callMcpTool(
  deps: McpDeps,
  message: McpMessage,
  call: Call,
  context: ServerContext,
): Promise<CallToolResult> {
  const { key, event } = message
  try {
    const own = await answerPlatformTool(deps, message, call)
    if (own !== undefined && 'answer' in own) return own.answer
    requireScope(key, 'tools:invoke')
    return await runTool(deps, message, own ?? call, context)
  } catch (error) {
    const refusal = toRefusal(error)
    if (thrown.has(refusal.code)) throw refusal
    if (refusal.code === 'internal') event.set({ code: refusal.code, error: refusal.cause })
    return toFailedResult(toldOfRefusal(refusal))
  }
}

/** What the platform answers itself, or the call that is meant; undefined where it is a tool's. */
async function answerPlatformTool(
  { pool, catalog, toolSearch }: McpDeps,
  { key, topic, view: shown }: McpMessage,
  { name, given }: Call,
): Promise<{ answer: CallToolResult } | Call | undefined> {
  if (name !== findToolsName && name !== callToolName) return undefined
  const view = await catalog.view()
  const tools = await callableTools(pool, { view, key })
  if (!offeredPlatformTools(tools, shown).some((offered) => offered.name === name)) return undefined
  if (name === findToolsName) {
    requireScope(key, 'tools:read')
    const found = await findTools(toolSearch, { key, topic, given, view, tools })
    if ('fault' in found) throw new AppError('invalid_params', found.fault)
    return {
      answer: { content: [{ type: 'text', text: JSON.stringify(found) }], structuredContent: found },
    }
  }
  const coerced = coerceParams(callParameters, withoutEmpty(given))
  if ('faults' in coerced)
    throw new AppError('invalid_params', `The params do not fit ${callToolName}`, { faults: coerced.faults })
  const { name: wanted, arguments: meant = {}, search_id: searchId } = coerced.params
  return {
    name: typeof wanted === 'string' ? wanted : '',
    given: isJsonObject(meant) ? meant : {},
    ...(typeof searchId === 'string' ? { searchId } : {}),
  }
}

/** The caller may end the call before it is accepted: then it is ended as soon as it is. */
async function runTool(
  deps: McpDeps,
  message: McpMessage,
  { name, given, searchId }: Call,
  { mcpReq }: ServerContext,
): Promise<CallToolResult> {
  const { key, event, topic, session } = message
  const leave = deps.waits.take(key.id)
  const ending = deps.underWay.begin({ keyId: key.id, session, requestId: mcpReq.id })
  try {
    const { invocation } = await submitRequest(deps, {
      key,
      tool: name,
      body: { params: given, topic, search_id: searchId },
    })
    event.set({ invocation_id: invocation.id, tool: name })
    return await awaitResult(deps, message, invocation, { mcpReq, ended: ending.signal })
  } finally {
    ending.done()
    leave()
  }
}

/** Waits for the end, saying how it stands; ends the invocation when the caller ends the call. */
async function awaitResult(
  deps: McpDeps,
  { key, checkKey, event, era, pace }: McpMessage,
  accepted: Invocation,
  { mcpReq, ended }: Pick<ServerContext, 'mcpReq'> & { ended: AbortSignal },
): Promise<CallToolResult> {
  const actor = { kind: 'key', key } as const
  const asTask = era === 'modern' && takesTasks(mcpReq.envelope)
  const one = await followCall(deps, accepted, {
    actor,
    waitMs: asTask ? taskAfterMs : waitMs,
    signal: AbortSignal.any([mcpReq.signal, ended]),
    checkKey,
    event,
    tell: createTeller(mcpReq, pace),
  })
  // In the versions before a connection that breaks ends no call, and a process that leaves never does.
  const isEnded = ended.aborted || (era === 'modern' && mcpReq.signal.aborted)
  if (isEnded && !isFinal(one.status) && !deps.isLeaving())
    await cancel(deps, actor, { id: one.id, within: deps.within })
  return asTask && !isFinal(one.status) ? toTaskStart(one) : toToolResult(one)
}

/** A reader that is behind is told nothing: each message would be kept for it. */
function createTeller({ _meta, notify }: ServerContext['mcpReq'], pace: McpMessage['pace']) {
  const progressToken = _meta?.progressToken
  let progress = 0
  return async (one: Invocation): Promise<void> => {
    if (progressToken === undefined || pace.isBehind()) return
    progress += 1
    await notify({
      method: 'notifications/progress',
      params: { progressToken, progress, message: describeProgress(one) },
    })
  }
}
