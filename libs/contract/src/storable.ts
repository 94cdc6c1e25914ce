import type { Json } from './parameters.ts'

// Postgres takes neither U+0000 nor half of a surrogate pair, in a text or in a jsonb.

export const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0')

export const toStorableText = (text: string) => text.toWellFormed().replaceAll('\0', '\u{fffd}')

/** The same for every text and name in a value, which is not deep: it calls itself. */
export function toStorable(value: Json): Json {
  if (typeof value === 'string') return toStorableText(value)
  // JSON text can spell a number that is too large for one.
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(toStorable)
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [toStorableText(key), toStorable(member)]),
  )
}
