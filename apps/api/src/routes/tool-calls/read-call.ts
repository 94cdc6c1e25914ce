import { isJsonObject } from './is-json-object.ts'
import type { Json } from '@toolyard/contract/parameters'
import type { JsonRoom } from '../../http/json-room.ts'

// Models write these, and what they write is often not quite right: each call is read by itself, and what is wrong with
// one of them is told in its place.

export type CallStyle = 'openai' | 'anthropic'

export type ReadCall = { id: string; style: CallStyle } & (
  | { tool: string; params: Record<string, Json> }
  | { fault: string }
)

const idMax = 200
const toolMax = 300

/**
 * One call as a provider writes it: `{id, function: {name, arguments}}`, or `{type: "tool_use", id, name, input}`. What
 * is JSON within a text takes of the room that the calls of a request share.
 */
export function readCall(call: Json, room: JsonRoom): ReadCall {
  if (!isJsonObject(call)) return { id: '', style: 'openai', fault: 'A call must be an object' }
  const style = call['type'] === 'tool_use' ? 'anthropic' : 'openai'
  const { id } = call
  if (typeof id !== 'string' || id === '' || id.length > idMax)
    return { id: '', style, fault: `"id" must be a text of 1 to ${idMax} characters` }
  return { id, style, ...(style === 'anthropic' ? readToolUse(call) : readFunctionCall(call, room)) }
}

type Read = { tool: string; params: Record<string, Json> } | { fault: string }

function readFunctionCall({ function: called }: Record<string, Json>, room: JsonRoom): Read {
  if (called === undefined || !isJsonObject(called))
    return { fault: '"function" must be an object with "name" and "arguments"' }
  const { name, arguments: given } = called
  if (!isName(name)) return { fault: '"function.name" must be the name of a tool' }
  if (given === undefined || given === null || given === '') return { tool: name, params: {} }
  const crowded = typeof given === 'string' ? room.refuse(given) : undefined
  if (crowded !== undefined) return { fault: `${crowded.code}: ${crowded.message}` }
  const params = typeof given === 'string' ? parse(given) : given
  if (params === undefined) return { fault: '"function.arguments" must be the text of a JSON object' }
  if (!isJsonObject(params)) return { fault: '"function.arguments" must be a JSON object' }
  return { tool: name, params }
}

function readToolUse({ name, input }: Record<string, Json>): Read {
  if (!isName(name)) return { fault: '"name" must be the name of a tool' }
  if (input === undefined || input === null) return { tool: name, params: {} }
  return isJsonObject(input) ? { tool: name, params: input } : { fault: '"input" must be an object' }
}

const isName = (name: Json | undefined): name is string =>
  typeof name === 'string' && name !== '' && name.length <= toolMax

function parse(text: string): Json | undefined {
  try {
    // safe because a JSON text holds nothing but JSON
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
