import type { Fault } from './errors.ts'
import { shorten } from './faults.ts'
import type { Json, Parameter, ParameterItem } from './parameters.ts'
import { matchesPattern } from './pattern.ts'

type Declared = ParameterItem & Pick<Partial<Parameter>, 'items'>

/** How many characters of one call may still be held against patterns: what is left of it is spent. */
export type PatternBudget = { charactersLeft: number }

export const patternCharactersMax = 32_768

// Of one list; a list of millions is not described to its end.
const itemFaultsMax = 50

const typeNames: Readonly<Record<Declared['type'], string>> = {
  string: 'a text',
  integer: 'a whole number between -9007199254740991 and 9007199254740991',
  float: 'a number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** Why a value is not what is declared. */
export function valueFaults(
  declared: Declared,
  value: Json,
  pointer: string,
  budget: PatternBudget = { charactersLeft: patternCharactersMax },
): Fault[] {
  if (!isOfType[declared.type](value)) return [{ pointer, detail: `must be ${typeNames[declared.type]}` }]
  const detail = describe(declared, value, budget)
  if (detail !== undefined) return [{ pointer, detail }]
  const { items } = declared
  if (items === undefined || !Array.isArray(value)) return []
  return itemsFaults(items, value, pointer, budget)
}

function itemsFaults(
  items: ParameterItem,
  list: readonly Json[],
  pointer: string,
  budget: PatternBudget,
): Fault[] {
  const faults: Fault[] = []
  for (const [index, item] of list.entries()) {
    faults.push(...valueFaults(items, item, `${pointer}/${index}`, budget))
    if (faults.length >= itemFaultsMax)
      return [...faults, { pointer, detail: 'may have more items with faults' }]
  }
  return faults
}

const isOfType: Readonly<Record<Declared['type'], (value: Json) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isSafeInteger(value),
  float: (value) => Number.isFinite(value),
  number: (value) => Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

function describe(declared: Declared, value: Json, budget: PatternBudget): string | undefined {
  if (declared.enum !== undefined && !declared.enum.includes(value)) {
    return shorten(
      `must be one of ${declared.enum.map((allowed) => JSON.stringify(allowed)).join(', ')}`,
      500,
    )
  }
  if (typeof value === 'number') return describeRange(declared, value)
  return typeof value === 'string' ? describePattern(declared, value, budget) : undefined
}

function describeRange({ minimum, maximum }: Declared, value: number): string | undefined {
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`
  return maximum !== undefined && value > maximum ? `must be at most ${maximum}` : undefined
}

function describePattern(declared: Declared, value: string, budget: PatternBudget): string | undefined {
  if (declared.pattern === undefined) return undefined
  if (value.length > budget.charactersLeft) {
    return `is too long for its pattern: all texts with one may have ${patternCharactersMax} characters together`
  }
  // safe because a budget is there to be spent: it is this call's alone
  budget.charactersLeft -= value.length
  return matchesPattern(declared, value) ? undefined : `must match the pattern ${declared.pattern}`
}
