import type { Refusal } from './verification.ts'
import { refuse } from './verification.ts'

/** As the web's Headers: whatever the case of the name. */
export type HeaderReader = { get: (name: string) => string | null | undefined }

export type RequestHeaders = HeaderReader | Readonly<Record<string, string>>

/** 32 signatures of the longest kind fit twice. Servers allow 16 KiB and more. */
const headerCharactersMax = 8_192

/** The text of a header that must be there. Its absence and its length are judged here, its form by the caller. */
export function readHeader(headers: RequestHeaders, name: string): string | Refusal {
  const value = findHeader(headers, name)
  if (value === undefined || value === '') return refuse('header_missing', `${name} is missing`)
  if (value.length > headerCharactersMax) return refuse('header_too_long', `${name} is too long`)
  return value
}

export function hasHeader(headers: RequestHeaders, name: string): boolean {
  return findHeader(headers, name) !== undefined
}

function findHeader(headers: RequestHeaders, name: string): string | undefined {
  if (isReader(headers)) return headers.get(name) ?? undefined
  const wanted = name.toLowerCase()
  const values = Object.entries(headers).flatMap(([key, value]) =>
    key.toLowerCase() === wanted ? [value] : [],
  )
  // As HTTP joins headers of one name, so that none of them is read and another one is forgotten.
  return values.length === 0 ? undefined : values.join(', ')
}

// A header may be named "get"; then it is a text.
const isReader = (headers: RequestHeaders): headers is HeaderReader => typeof headers['get'] === 'function'
