import type { Json } from './parameters.ts'
import type { Telemetry } from './telemetry.ts'

// One argument of a Linux process holds 131,071 bytes. The parts are bounded such that their sum, as base64, always
// fits; the test of this file works it out.

export type PayloadInput = 'argument' | 'stdin'
export type PayloadPart = 'params' | 'settings' | 'telemetry' | '_state'

export type Payload = {
  params: Record<string, Json>
  settings: Record<string, Json>
  telemetry: Telemetry
}

export const argumentBytesMax = 131_071
export const settingsBytesMax = 16 * 1024

/** Bytes of JSON. `_state` travels within params, and is counted beside what the caller gave. */
export const partBytesMax: Readonly<Record<PayloadInput, Readonly<Record<PayloadPart, number>>>> = {
  argument: { params: 60 * 1024, settings: settingsBytesMax, telemetry: 2 * 1024, _state: 12 * 1024 },
  stdin: { params: 4 * 1024 ** 2, settings: settingsBytesMax, telemetry: 2 * 1024, _state: 64 * 1024 },
}

// The names of the parts and the signs between them.
const envelopeBytes = Buffer.byteLength('{"params":,"_state":,"settings":,"telemetry":}')
const stdinBytes = Object.values(partBytesMax.stdin).reduce((sum, bytes) => sum + bytes, envelopeBytes)
const stdinBytesMax = Math.ceil(stdinBytes / 3) * 4

export type TooLarge = {
  kind: 'payload_too_large'
  part: PayloadPart | 'payload'
  bytes: number
  bytesMax: number
}

/** Whether a part is larger than a tool with this input can be given. */
export function checkPart(part: PayloadPart, value: Json, input: PayloadInput): TooLarge | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  const bytesMax = partBytesMax[input][part]
  return bytes > bytesMax ? { kind: 'payload_too_large', part, bytes, bytesMax } : undefined
}

/** What the tool is handed: base64 of JSON. The parts were checked one by one before; this is the last guard. */
export function encodePayload(payload: Payload, input: PayloadInput): { payload: string } | TooLarge {
  const { params, settings, telemetry } = payload
  const encoded = Buffer.from(JSON.stringify({ params, settings, telemetry })).toString('base64')
  const bytesMax = input === 'argument' ? argumentBytesMax : stdinBytesMax
  if (encoded.length <= bytesMax) return { payload: encoded }
  return { kind: 'payload_too_large', part: 'payload', bytes: encoded.length, bytesMax }
}
