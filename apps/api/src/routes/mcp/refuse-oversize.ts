import { AppError } from '@toolyard/contract/errors'
import { oversize } from '@toolyard/contract/json-faults'
import type { Json } from '@toolyard/contract/parameters'
import { isJsonObject } from '../tool-calls/is-json-object.ts'

// Messages of the older versions may come many at once, and each can be a call.
const messagesMax = 100
const limits = { depthMax: 70, sizeMax: 8 * 1024 * 1024 }
// The protocol's schemas look at each name: 15 µs. In what a call gives, which they pass on, only at the outermost.
const givenNamesMax = 1_000
const otherNamesMax = 500
// What names something, and may come back: an id or a token with everything that the call is answered with.
const textMax = 200
const named = ['id', 'method']
const namedInParams = ['name', 'uri', 'cursor', 'taskId', 'requestId', 'protocolVersion', 'progressToken']
const namedInMeta = ['progressToken', 'io.modelcontextprotocol/protocolVersion']

/** Refuses what no client has reason to send, before the protocol is asked what it means. */
export function refuseOversize(body: Json): void {
  const messages = Array.isArray(body) ? body : [body]
  if (messages.length > messagesMax)
    throw new AppError('payload_too_large', `At most ${messagesMax} messages may come at once`)
  const fault = oversize(body, limits)
  if (fault !== undefined) throw new AppError('invalid_request', `The message ${fault.detail}`)
  for (const message of messages) refuseMessage(message)
}

function refuseMessage(message: Json): void {
  if (!isJsonObject(message)) return
  const params = asObject(message['params'])
  refuseTexts(message, named)
  refuseTexts(params, namedInParams)
  refuseTexts(asObject(params['_meta']), namedInMeta)
  const given = asObject(params['arguments'])
  if (Object.keys(given).length > givenNamesMax)
    throw new AppError('payload_too_large', `"arguments" may have at most ${givenNamesMax} names`)
  refuseNames({ ...message, params: { ...params, arguments: null } })
}

function refuseTexts(members: Record<string, Json>, names: readonly string[]): void {
  for (const name of names) {
    const text = Object.hasOwn(members, name) ? members[name] : undefined
    if (typeof text === 'string' && text.length > textMax)
      throw new AppError('invalid_request', `"${name}" may have at most ${textMax} characters`)
  }
}

// What is nested beyond all measure has been refused already.
function refuseNames(value: Json, before = 0): number {
  if (Array.isArray(value)) return value.reduce<number>((count, item) => refuseNames(item, count), before)
  if (!isJsonObject(value)) return before
  const names = Object.keys(value)
  if (names.some(({ length }) => length > textMax))
    throw new AppError('invalid_request', `A name may have at most ${textMax} characters`)
  const count = before + names.length
  if (count > otherNamesMax)
    throw new AppError('payload_too_large', `A message may have at most ${otherNamesMax} names`)
  return Object.values(value).reduce<number>((sum, member) => refuseNames(member, sum), count)
}

const asObject = (value: Json | undefined) => (value !== undefined && isJsonObject(value) ? value : {})
