import { createHash } from 'node:crypto'
import type { Json } from '@toolyard/contract/parameters'

/** The same for two bodies that say the same, whatever the order of their members. */
export function hashBody(body: Json): Buffer {
  return createHash('sha256').update(JSON.stringify(body, inOrder)).digest()
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  // Entries and not assignments: a member may be called __proto__.
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))))
}
