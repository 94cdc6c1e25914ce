import { coerceParams } from './coerce-params.ts'
import type { Fault } from './errors.ts'
import { toPointer } from './faults.ts'
import { memoryBytes } from './memory-bytes.ts'
import { example, sandbox, setting, trigger } from './manifest.ts'
import { parameterRules } from './parameter-rules.ts'
import type { Parameters } from './parameters.ts'
import { parameter, parameters } from './parameters.ts'
import { settingsBytesMax } from './payload.ts'
import { webhookRules } from './webhook-rules.ts'

// What one field of a manifest demands of another. Each part is judged where its own shape is sound, whatever is
// wrong elsewhere, so that an author sees all faults at once.

const parametersMax = 100
const settingsMax = 100
// An engine refuses less than 6 MiB; more than 1 TiB is a slip.
const memoryMin = 6 * 1024 ** 2
const memoryMax = 1024 ** 4

/** The faults of a manifest that is JSON, beside those of its shape. */
export function manifestRules(value: unknown): Fault[] {
  return [
    ...hookRules(value),
    ...sandboxRules(member(value, 'sandbox')),
    ...settingsRules(member(value, 'config_schema')),
    ...allParameterRules(member(value, 'parameters')),
    ...exampleRules(member(value, 'examples'), member(value, 'parameters')),
  ]
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? // safe because the key was found just now
      (value as Record<string, unknown>)[key]
    : undefined
}

const membersOf = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []

function hookRules(value: unknown): Fault[] {
  const parsed = trigger.safeParse(member(value, 'trigger'))
  if (!parsed.success || parsed.data.type !== 'webhook') return []
  const settings = membersOf(member(value, 'config_schema')).slice(0, settingsMax)
  return webhookRules({
    settings,
    parameters: membersOf(member(value, 'parameters')).slice(0, parametersMax),
  })
}

function sandboxRules(value: unknown): Fault[] {
  const parsed = sandbox.safeParse(value)
  if (!parsed.success) return []
  const { memory, reuse, writable } = parsed.data
  const faults: Fault[] = []
  if (writable && reuse > 1) {
    const detail =
      'cannot be more than 1 where "writable" is true: a call would find the files of the one before'
    faults.push({ pointer: '/sandbox/reuse', detail })
  }
  const bytes = memoryBytes(memory)
  if (bytes < memoryMin) faults.push({ pointer: '/sandbox/memory', detail: 'must be at least 6m' })
  if (bytes > memoryMax) faults.push({ pointer: '/sandbox/memory', detail: 'must be at most 1024g' })
  return faults
}

function settingsRules(value: unknown): Fault[] {
  const members = membersOf(value)
  const faults: Fault[] = []
  if (members.length > settingsMax) {
    faults.push({ pointer: '/config_schema', detail: `must have at most ${settingsMax} settings` })
  }
  const defaults: Record<string, unknown> = {}
  for (const [name, schema] of members.slice(0, settingsMax)) {
    const parsed = setting.safeParse(schema)
    if (!parsed.success || parsed.data.default === undefined) continue
    defaults[name] = parsed.data.default
    // Whoever reads the folder, the list of tools or the image's history reads it.
    if (parsed.data.secret) {
      const detail = 'must not be there: what stands in a manifest is not secret; store it with PUT'
      faults.push({ pointer: toPointer(['config_schema', name, 'default']), detail })
    }
  }
  if (Buffer.byteLength(JSON.stringify(defaults)) > settingsBytesMax) {
    faults.push({
      pointer: '/config_schema',
      detail: `has defaults of more than ${settingsBytesMax} bytes together`,
    })
  }
  return faults
}

function allParameterRules(value: unknown): Fault[] {
  const members = membersOf(value)
  if (members.length > parametersMax) {
    return [{ pointer: '/parameters', detail: `must have at most ${parametersMax} parameters` }]
  }
  return members.flatMap(([name, declared]) => {
    const parsed = parameter.safeParse(declared)
    return parsed.success ? parameterRules(parsed.data, toPointer(['parameters', name])) : []
  })
}

// An example can be held only against parameters that are sound themselves.
function exampleRules(value: unknown, declared: unknown): Fault[] {
  const sound = parameters.safeParse(declared)
  if (!sound.success || allParameterRules(declared).length > 0 || !Array.isArray(value)) return []
  const given: readonly unknown[] = value.slice(0, 50)
  return given.flatMap((one, index) => exampleFaults(sound.data, one, `/examples/${index}`))
}

function exampleFaults(declared: Parameters, value: unknown, at: string): Fault[] {
  const parsed = example.safeParse(value)
  if (!parsed.success) return []
  const coerced = coerceParams(declared, parsed.data.params)
  if (!('faults' in coerced)) return []
  return coerced.faults.map(({ pointer, detail }) => ({ pointer: at + pointer, detail }))
}
