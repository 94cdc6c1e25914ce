import type { ToolStatus } from '@toolyard/contract/tools'
import type { SettingsSchema } from './settings-schema.ts'
import { missingAmong } from './settings-schema.ts'

/**
 * `system`: nothing to configure; `available`: a required key is missing; `connected`: all required keys are there.
 * `filled` is what `storedKeys` gives for the tool.
 */
export function statusOf(schema: SettingsSchema, filled: ReadonlySet<string>): ToolStatus {
  if (Object.keys(schema).length === 0) return 'system'
  return missingAmong(schema, filled).length > 0 ? 'available' : 'connected'
}
