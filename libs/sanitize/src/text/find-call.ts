import { filler, isBlank, isWordBefore, isWordChar } from './fold.ts'

// Calls as a model would write them to act: `weather(city="Malta")`.

export type Call = { start: number; end: number }

export type KnownCalls = {
  text: string
  folded: Uint8Array
  names: ReadonlySet<string>
  /** Most parentheses follow no name: this tells it soon. */
  lastChars: ReadonlySet<number>
  /** For each opening parenthesis the place behind its partner, 0 where it has none. */
  endOf: Uint32Array
}

const skills = [
  'recall',
  'memorize',
  'delegate',
  'associate',
  'introspect',
  'schedule',
  'list',
  'goal',
  'focus',
  'autobiography',
]
// Nobody writes "recall (" but to call it, while "the list (three items)" is English.
const calledAcrossBlanks = new Set(['recall', 'memorize', 'delegate', 'associate', 'introspect'])
const nameLengthMax = 64
const open = 0x28
const close = 0x29
const hyphen = 0x2d

export function knownCalls(text: string, folded: Uint8Array, knownNames: readonly string[]): KnownCalls {
  const endOf = new Uint32Array(folded.length)
  const waiting = new Uint32Array(folded.length)
  let depth = 0
  for (let at = 0; at < folded.length; at++) {
    if (folded[at] === open) waiting[depth++] = at
    else if (folded[at] === close && depth > 0) endOf[waiting[--depth] ?? 0] = at + 1
  }
  const names = new Set([...skills, ...knownNames.map((name) => name.toLowerCase())])
  const lastChars = new Set(Array.from(names, (name) => name.charCodeAt(name.length - 1)))
  return { text, folded, names, lastChars, endOf }
}

/**
 * The call whose parenthesis opens here, with its balanced arguments. Without a partner only the name and the
 * parenthesis are the call: its end is not to be guessed.
 */
export function findCall(calls: KnownCalls, at: number): Call | undefined {
  const { folded, lastChars, endOf } = calls
  if (folded[at] !== open) return undefined
  let nameEnd = at
  while (nameEnd > 0 && isBlank(folded[nameEnd - 1])) nameEnd--
  if (!lastChars.has(folded[nameEnd - 1] ?? 0)) return undefined
  const known = knownNameBefore(calls, nameEnd)
  if (known === undefined) return undefined
  const end = endOf[at] === 0 ? at + 1 : (endOf[at] ?? at + 1)
  if (calledAcrossBlanks.has(known.name)) return { start: known.start, end }
  const isApart = nameEnd < at && folded.subarray(nameEnd, at).some((code) => code !== filler)
  const isCall = isApart ? looksLikeArguments(folded, at + 1) : !isPlural(folded, at, end)
  return isCall ? { start: known.start, end } : undefined
}

/** The one that leaves the number open: "goal(s)". */
const isPlural = (folded: Uint8Array, at: number, end: number) => end === at + 3 && folded[at + 1] === 0x73

/** The longest known name that ends here and begins a word; `pre-recall(` is a call of recall, `precall(` is none. */
function knownNameBefore({ text, folded, names }: KnownCalls, end: number) {
  let found: { name: string; start: number } | undefined
  let name = ''
  for (let at = end - 1; at >= 0 && name.length < nameLengthMax; at--) {
    const code = folded[at] ?? 0
    if (code === filler) continue
    if (!isWordChar(code) && code !== hyphen) break
    name = String.fromCharCode(code) + name
    if (!isWordBefore(text, at) && names.has(name)) found = { name, start: at }
  }
  return found
}

/** A quote, an empty pair, or `key=`. */
function looksLikeArguments(folded: Uint8Array, from: number): boolean {
  let at = from
  while (isBlank(folded[at])) at++
  if ([0x22, 0x27, 0x60, close].includes(folded[at] ?? 0)) return true
  const start = at
  while (at < start + nameLengthMax && isWordChar(folded[at])) at++
  if (at === start) return false
  while (at < start + nameLengthMax && isBlank(folded[at])) at++
  return folded[at] === 0x3d
}
