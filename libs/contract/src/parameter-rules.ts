import type { Fault } from './errors.ts'
import type { Parameter, ParameterItem } from './parameters.ts'
import { patternFault } from './pattern.ts'
import { valueFaults } from './value-faults.ts'

const numeric: readonly ParameterItem['type'][] = ['integer', 'float', 'number']

/** What is wrong with a declaration whose shape is sound: its own values must be what it declares. */
export function parameterRules(declared: Parameter, pointer: string): Fault[] {
  const { items } = declared
  const faults = [...declarationRules(declared, pointer)]
  if (items !== undefined) {
    if (declared.type !== 'array') {
      faults.push({
        pointer: `${pointer}/items`,
        detail: `is for type array, not ${declared.type}: remove it`,
      })
    }
    faults.push(...declarationRules(items, `${pointer}/items`))
  }
  if (faults.length > 0 || declared.default === undefined || declared.default === null) return faults
  return valueFaults(declared, declared.default, `${pointer}/default`)
}

function declarationRules(declared: ParameterItem, pointer: string): Fault[] {
  const faults = [...rangeRules(declared, pointer), ...patternRules(declared, pointer)]
  if (faults.length > 0 || declared.enum === undefined) return faults
  // A list of a caller would be compared, item by item, with all that is allowed.
  if (declared.type === 'array' || declared.type === 'object') {
    return [{ pointer: `${pointer}/enum`, detail: `is not for type ${declared.type}: remove it` }]
  }
  const { enum: allowed, ...rest } = declared
  return allowed.flatMap((value, index) => valueFaults(rest, value, `${pointer}/enum/${index}`))
}

function rangeRules({ type, minimum, maximum }: ParameterItem, pointer: string): Fault[] {
  if (!numeric.includes(type)) {
    const detail = `is for types ${numeric.join(', ')}, not ${type}: remove it`
    return Object.entries({ minimum, maximum }).flatMap(([key, bound]) =>
      bound === undefined ? [] : [{ pointer: `${pointer}/${key}`, detail }],
    )
  }
  if (minimum === undefined || maximum === undefined || minimum <= maximum) return []
  return [{ pointer: `${pointer}/minimum`, detail: `must be at most the maximum, ${maximum}` }]
}

function patternRules({ type, pattern }: ParameterItem, pointer: string): Fault[] {
  if (pattern === undefined) return []
  const detail =
    type === 'string'
      ? patternFault(pattern)
      : `is for type string, not ${type}: write it into "items", or remove it`
  return detail === undefined ? [] : [{ pointer: `${pointer}/pattern`, detail }]
}
