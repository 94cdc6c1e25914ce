import type { Json } from '../json.ts'
import { mapJson } from '../map-json.ts'

// Far above what a tool's data may hold, far below what would overflow the stack.
const depthMax = 500

export function redactJsonWith(redact: (text: string) => string, value: Json): Json {
  // What was not looked at is not passed on.
  return mapJson(value, { text: redact, key: redact, depthMax, tooDeep: '***' })
}
