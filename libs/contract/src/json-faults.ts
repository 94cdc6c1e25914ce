import type { Fault } from './errors.ts'
import { toPointer } from './faults.ts'
import { isStorable } from './storable.ts'
import type { Path } from './walk-json.ts'
import { walkJson } from './walk-json.ts'

// A value that is wrong in a million places is told of some.
const toldMax = 50

export type JsonLimits = {
  depthMax: number
  /** Values, names and characters together. */
  sizeMax: number
}

export type Oversize = { kind: 'large' | 'deep'; path: Path; detail: string }

/** What is past the limits. What is not can be walked, and written, by code that calls itself. */
export function oversize(root: unknown, { depthMax, sizeMax }: JsonLimits): Oversize | undefined {
  let size = 0
  let found: Oversize | undefined
  walkJson(root, (value, { depth, path }) => {
    size += sizeOf(value)
    if (depth > depthMax) {
      found = {
        kind: 'deep',
        path: path().slice(0, 3),
        detail: `is nested too deep: at most ${depthMax} levels`,
      }
    }
    if (size > sizeMax) {
      found = { kind: 'large', path: [], detail: `is too large: at most ${sizeMax} characters` }
    }
    return found === undefined ? 'enter' : 'stop'
  })
  return found
}

/** Why a value cannot be taken in: too deep, too large, no JSON, or with texts that Postgres refuses. */
export function jsonFaults(root: unknown, limits: JsonLimits): Fault[] {
  const past = oversize(root, limits)
  if (past !== undefined) return [{ pointer: toPointer(past.path), detail: past.detail }]
  const faults: Fault[] = []
  walkJson(root, (value, place) => {
    const detail = describe(value, place.name)
    if (detail !== undefined) faults.push({ pointer: toPointer(place.path()), detail })
    return faults.length < toldMax ? 'enter' : 'stop'
  })
  return faults.length < toldMax ? faults : [...faults, { pointer: '', detail: 'may have more such faults' }]
}

// Known before its members are looked at: a list of millions would be copied first.
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 1
  if (typeof value !== 'object' || value === null) return 1
  if (Array.isArray(value)) return value.length + 1
  return Object.keys(value).reduce((sum, key) => sum + key.length + 1, 1)
}

function describe(value: unknown, name: string | number | undefined): string | undefined {
  if (name === '__proto__') return 'cannot be used as a name'
  if (typeof name === 'string' && !isStorable(name)) return 'is a name with U+0000 or half a character'
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : 'must hold neither U+0000 nor half of a surrogate pair'
  }
  return isJson(value) ? undefined : 'must be JSON'
}

function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'boolean'
  if (value === null || Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
