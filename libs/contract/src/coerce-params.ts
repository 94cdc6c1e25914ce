import type { Fault } from './errors.ts'
import { orderFaults, toPointer } from './faults.ts'
import { jsonFaults } from './json-faults.ts'
import { nearestWord } from './nearest-word.ts'
import type { Json, Parameter, ParameterItem, Parameters } from './parameters.ts'
import type { PatternBudget } from './value-faults.ts'
import { patternCharactersMax, valueFaults } from './value-faults.ts'

// The body that holds them is bounded by its reader; this bounds what is walked where there is no such reader.
const limits = { depthMax: 65, sizeMax: 8 * 1024 * 1024 }
// Each costs a comparison with every name.
const suggestionsMax = 10
const unknownMax = 50

export type CoercedParams = { params: Record<string, Json> } | { faults: Fault[] }

/** What a caller gave, as the tool declares it: narrowly coerced, defaults filled in; or everything that is wrong. */
export function coerceParams(parameters: Parameters, given: unknown): CoercedParams {
  if (!isObject(given)) return { faults: [{ pointer: '/params', detail: 'must be an object' }] }
  const unreadable = jsonFaults({ params: given }, limits)
  if (unreadable.length > 0) return { faults: orderFaults(unreadable) }

  const faults = unknownFaults(parameters, Object.keys(given))
  const params: Record<string, Json> = {}
  const budget = { charactersLeft: patternCharactersMax }
  for (const [name, declared] of Object.entries(parameters)) {
    const taken = takeParam(declared, Object.hasOwn(given, name) ? given[name] : undefined, name, budget)
    faults.push(...taken.faults)
    if (taken.value !== undefined) params[name] = taken.value
  }
  return faults.length > 0 ? { faults: orderFaults(faults) } : { params }
}

// That its members are JSON is made sure of before they are read.
const isObject = (given: unknown): given is Record<string, Json> =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

function unknownFaults(parameters: Parameters, names: readonly string[]): Fault[] {
  const known = Object.keys(parameters)
  const unknown = names.filter((name) => !Object.hasOwn(parameters, name))
  const faults = unknown.slice(0, unknownMax).map((name, index) => {
    const pointer = toPointer(['params', name])
    if (name.startsWith('_')) {
      return { pointer, detail: 'is set by the platform: names beginning "_" are its own' }
    }
    const meant = index < suggestionsMax ? nearestWord(name, known) : undefined
    const mend = meant === undefined ? 'remove it' : `did you mean "${meant}"?`
    return { pointer, detail: `is not a parameter of this tool: ${mend}` }
  })
  if (unknown.length <= unknownMax) return faults
  const rest = unknown.length - unknownMax
  return [
    ...faults,
    { pointer: '/params', detail: `has ${rest} more names that are no parameters of this tool` },
  ]
}

// Null is nothing given: models write it for what they leave out, and no type has it as a value. So it takes the
// default, and where there is none, it is missing if it is required and left away if it is not.
function takeParam(
  declared: Parameter,
  given: Json | undefined,
  name: string,
  budget: PatternBudget,
): { value?: Json; faults: Fault[] } {
  const pointer = toPointer(['params', name])
  if (given === undefined || given === null) {
    const filled = declared.default ?? undefined
    if (filled !== undefined) return { value: structuredClone(filled), faults: [] }
    return { faults: declared.required ? [{ pointer, detail: 'is required' }] : [] }
  }
  const value = coerceList(declared, given)
  return { value, faults: valueFaults(declared, value, pointer, budget) }
}

function coerceList(declared: Parameter, given: Json): Json {
  const { items } = declared
  if (declared.type !== 'array' || items === undefined || !Array.isArray(given)) {
    return coerceValue(declared.type, given)
  }
  return given.map((item) => coerceValue(items.type, item))
}

function coerceValue(type: ParameterItem['type'], given: Json): Json {
  if (typeof given !== 'string') return given
  // As a number is written: no sign but a minus, no leading zero, no space, no exponent.
  if (type === 'integer' && /^(?:0|-?[1-9]\d{0,15})$/.test(given)) return Number(given)
  if (type === 'boolean' && (given === 'true' || given === 'false')) return given === 'true'
  return given
}
