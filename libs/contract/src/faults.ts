import type { Fault } from './errors.ts'

// What is told about a value that a stranger wrote must not grow with it.
const faultsMax = 100
const stepMax = 100

/** A JSON pointer; its steps are cut. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path
    .map((step) => `/${shorten(String(step), stepMax).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
}

export function shorten(text: string, max: number): string {
  return (text.length > max ? `${text.slice(0, max)}…` : text).toWellFormed()
}

/** Sorted by where they are; where there are more than can be told, the last says how many. */
export function orderFaults(faults: readonly Fault[]): Fault[] {
  const sorted = faults.toSorted((a, b) => compare(a.pointer, b.pointer) || compare(a.detail, b.detail))
  if (sorted.length <= faultsMax) return sorted
  const told = sorted.slice(0, faultsMax - 1)
  return [...told, { pointer: '', detail: `has ${sorted.length - told.length} more faults` }]
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))
