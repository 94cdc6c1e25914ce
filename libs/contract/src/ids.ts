import { idBytes } from './id-bytes.ts'

// Crockford's alphabet in lower case: no i, l, o, u, and its characters sort in the order of their values.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const timeLength = 10
const randomLength = 16

/**
 * 26 letters and digits, sortable by time to the millisecond, with 80 random bits.
 * No colon and no underscore, because queue job ids refuse the first and key tokens split at the second.
 */
export function newId(nowMs: number = Date.now()): string {
  return encodeTime(nowMs) + encodeRandom()
}

/** `newId` behind a word that says what the id is of, as in `inv_01j…`. */
export function newPrefixedId(prefix: string, nowMs?: number): string {
  return `${prefix}_${newId(nowMs)}`
}

function encodeTime(nowMs: number): string {
  let text = ''
  for (let rest = nowMs, i = 0; i < timeLength; i++) {
    text = alphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}

function encodeRandom(): string {
  return Array.from(idBytes(randomLength), (byte) => alphabet.charAt(byte & 31)).join('')
}
