import { randomBytes } from 'node:crypto'

/** The two parts of `yk_<id>_<secret>`, the text that a caller presents. */
export type Token = { id: string; secret: string }

// The id's alphabet is that of newId; hex in the secret keeps the underscore free to separate.
const tokenPattern = /^yk_([0-9a-hjkmnp-tv-z]{26})_([0-9a-f]{64})$/
const secretBytes = 32

const idPattern = /^[0-9a-hjkmnp-tv-z]{26}$/

export const tokenLength = 'yk_'.length + 26 + '_'.length + secretBytes * 2

export function newSecret(): string {
  return randomBytes(secretBytes).toString('hex')
}

export function formatToken(token: Token): string {
  return `yk_${token.id}_${token.secret}`
}

/** Undefined for anything but the exact form, so that no other text costs a hash or a statement. */
export function parseToken(text: string): Token | undefined {
  if (text.length !== tokenLength) return undefined
  const match = tokenPattern.exec(text)
  return match?.[1] === undefined || match[2] === undefined ? undefined : { id: match[1], secret: match[2] }
}

/** Whether `text` has the form of an id. Other text is never sent to the database, which could not even hold some of it. */
export function isId(text: string): boolean {
  return idPattern.test(text)
}

/** `text` with the secret part of every token in it blotted out. */
export function blotTokens(text: string): string {
  return text.replaceAll(/(yk_[0-9a-z]{26}_)[0-9a-f]+/gi, '$1***')
}
