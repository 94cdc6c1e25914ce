import { jsonFaults } from '@toolyard/contract/json-faults'
import type { Json } from '@toolyard/contract/parameters'

// Deeper values could not be written again by code that calls itself.
const jsonLimits = { depthMax: 64, sizeMax: 2 * 2 ** 20 }

const isJsonType = (type: string) => /^(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)

export type HookMessage = {
  headers: Headers
  body: Buffer
  eventId: string | undefined
  receivedAt: Date
}

/** What a tool is handed of a message, as its param `_webhook`: the headers of these names, and what the body says. */
export function toHookParam(message: HookMessage, names: readonly string[]): Record<string, Json> {
  const headers = names.flatMap((name): [string, string][] => {
    const value = message.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return {
    headers: Object.fromEntries(headers),
    ...readBody(message.headers.get('content-type') ?? '', message.body),
    event_id: message.eventId ?? null,
    received_at: message.receivedAt.toISOString(),
  }
}

type ReadBody = { body: Json; body_encoding: 'json' | 'text' | 'base64' }

// Whatever is not what it is said to be is handed over as it came: it is for the tool to understand.
function readBody(type: string, bytes: Buffer): ReadBody {
  const text = readText(bytes)
  if (text === undefined) return { body: bytes.toString('base64'), body_encoding: 'base64' }
  const parsed = isJsonType(type) ? readJson(text) : undefined
  return parsed === undefined
    ? { body: text, body_encoding: 'text' }
    : { body: parsed.value, body_encoding: 'json' }
}

function readText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** JSON that can be stored and written again without a change. */
function readJson(text: string): { value: Json } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // safe because what a JSON text says is JSON
    return jsonFaults(value, jsonLimits).length === 0 ? { value: value as Json } : undefined
  } catch {
    return undefined
  }
}
