import type { Json } from './json.ts'

export type JsonChange = {
  text: (text: string) => string
  /** `undefined` leaves the entry out. */
  key: (key: string) => string | undefined
  depthMax: number
  /** What stands where the value goes deeper. */
  tooDeep: Json
}

/** The same structure with other strings and keys. Keys that become equal are numbered, so that no value is lost. */
export function mapJson(value: Json, change: JsonChange, depth = 0): Json {
  if (typeof value === 'string') return change.text(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= change.depthMax) return change.tooDeep
  if (Array.isArray(value)) return value.map((one) => mapJson(one, change, depth + 1))
  const taken = new Map<string, number>()
  const entries: [string, Json][] = []
  for (const [name, one] of Object.entries(value)) {
    const key = change.key(name)
    if (key !== undefined) entries.push([freeKey(key, taken), mapJson(one, change, depth + 1)])
  }
  // fromEntries defines own properties, so that a key `__proto__` is only a key.
  return Object.fromEntries(entries)
}

function freeKey(key: string, taken: Map<string, number>): string {
  let free = key
  let count = taken.get(key) ?? 0
  while (taken.has(free)) free = `${key} (${count++})`
  taken.set(key, Math.max(count, 1))
  if (free !== key) taken.set(free, 1)
  return free
}
