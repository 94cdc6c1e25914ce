// The ways in which a secret may be spelt. Each reads one unit of the output at a place and says which bytes it
// stands for. Reading instead of spelling out finds every mixture: `%41b%63` as well as `%41%62%63`.

/** Bytes that the unit stands for, and how many bytes of the output it takes. */
export type Unit = { length: number; bytes: readonly number[] }

/** `undefined`: the output ends inside what may be a longer unit; more must be read to know. */
export type ReadUnit = (bytes: Uint8Array, at: number, isEnd: boolean) => Unit | undefined

const percent = 0x25
const plus = 0x2b
const slash = 0x2f
const backslash = 0x5c
const ampersand = 0x26
const semicolon = 0x3b

const singles: readonly Unit[] = Array.from({ length: 256 }, (_, byte) => ({ length: 1, bytes: [byte] }))
const nothing: Unit = { length: 1, bytes: [] }
const space: Unit = { length: 1, bytes: [0x20] }

const readPlain: ReadUnit = (bytes, at) => singles[bytes[at] ?? 0]

export const readPercent: ReadUnit = (bytes, at, isEnd) => {
  if (bytes[at] !== percent) return readPlain(bytes, at, isEnd)
  if (at + 2 >= bytes.length && !isEnd) return undefined
  const value = hexValue(bytes, at + 1, at + 3)
  return value === undefined ? singles[percent] : { length: 3, bytes: [value] }
}

/** As forms do it: `+` is a space. */
export const readForm: ReadUnit = (bytes, at, isEnd) =>
  bytes[at] === plus ? space : readPercent(bytes, at, isEnd)

const jsonEscapes = new Map(Array.from('"\\/', (char) => [char.charCodeAt(0), char.charCodeAt(0)]))
for (const [name, meant] of ['b\b', 'f\f', 'n\n', 'r\r', 't\t', "''"])
  jsonEscapes.set((name ?? '').charCodeAt(0), (meant ?? '').charCodeAt(0))

export const readJson: ReadUnit = (bytes, at, isEnd) => {
  if (bytes[at] !== backslash) return readPlain(bytes, at, isEnd)
  if (at + 1 >= bytes.length) return isEnd ? singles[backslash] : undefined
  const meant = jsonEscapes.get(bytes[at + 1] ?? 0)
  if (meant !== undefined) return { length: 2, bytes: [meant] }
  if (bytes[at + 1] !== 0x75) return singles[backslash]
  if (at + 5 >= bytes.length && !isEnd) return undefined
  const unit = hexValue(bytes, at + 2, at + 6)
  if (unit === undefined) return singles[backslash]
  if (unit < 0xd800 || unit > 0xdbff) return { length: 6, bytes: utf8(unit) }
  return readSurrogatePair(bytes, at, unit, isEnd)
}

function readSurrogatePair(bytes: Uint8Array, at: number, high: number, isEnd: boolean): Unit | undefined {
  if (at + 11 >= bytes.length && !isEnd) return undefined
  const isEscape = bytes[at + 6] === backslash && bytes[at + 7] === 0x75
  const low = isEscape ? (hexValue(bytes, at + 8, at + 12) ?? 0) : 0
  if (low < 0xdc00 || low > 0xdfff) return { length: 6, bytes: utf8(0xfffd) }
  return { length: 12, bytes: utf8(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)) }
}

// The names that escaping programs write for characters that keys and passwords are made of.
const entityNames = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: '\u00a0',
    plus: '+',
    sol: '/',
    equals: '=',
    lowbar: '_',
    colon: ':',
    semi: ';',
    comma: ',',
    period: '.',
    excl: '!',
    num: '#',
    dollar: '$',
    percnt: '%',
    lpar: '(',
    rpar: ')',
    ast: '*',
    midast: '*',
    quest: '?',
    commat: '@',
    lsqb: '[',
    lbrack: '[',
    bsol: '\\',
    rsqb: ']',
    rbrack: ']',
    Hat: '^',
    grave: '`',
    lcub: '{',
    lbrace: '{',
    verbar: '|',
    vert: '|',
    rcub: '}',
    rbrace: '}',
    tilde: '~',
    Tab: '\t',
    NewLine: '\n',
    hyphen: '-',
    dash: '-',
    AMP: '&',
    LT: '<',
    GT: '>',
    QUOT: '"',
  }),
)
const entityLengthMax = 14

/** Numeric references, the closing `;` or not, and the names of punctuation. */
export const readHtml: ReadUnit = (bytes, at, isEnd) => {
  if (bytes[at] !== ampersand) return readPlain(bytes, at, isEnd)
  let end = at + 1
  const limit = at + entityLengthMax
  while (end < bytes.length && end < limit && isEntityByte(bytes[end] ?? 0)) end++
  if (end >= bytes.length && end < limit && !isEnd) return undefined
  const name = String.fromCharCode(...bytes.subarray(at + 1, end))
  const closed = bytes[end] === semicolon ? 1 : 0
  const numeric = /^#(?:x([0-9a-f]{1,8})|(\d{1,8}))/i.exec(name)
  if (numeric !== null) {
    const code = numeric[1] === undefined ? Number(numeric[2]) : Number.parseInt(numeric[1], 16)
    const isWhole = numeric[0].length === name.length
    return { length: 1 + numeric[0].length + (isWhole ? closed : 0), bytes: utf8(code) }
  }
  const meant = closed === 1 ? entityNames.get(name) : undefined
  if (meant === undefined) return singles[ampersand]
  return { length: name.length + 2, bytes: utf8(meant.charCodeAt(0)) }
}

const isEntityByte = (byte: number) =>
  byte === 0x23 || (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)

/**
 * What stands inside an encoded text without being part of it: line breaks (`base64` wraps after 76 characters),
 * those of JSON, and the backslash of `\/`. The escapes of `+`, `/` and `=` in an address mean the characters.
 */
export const readEncoded: ReadUnit = (bytes, at, isEnd) => {
  const byte = bytes[at] ?? 0
  if (byte === 0x0a || byte === 0x0d) return nothing
  if (byte === percent) return readPercent(bytes, at, isEnd)
  if (byte !== backslash) return singles[byte]
  if (at + 1 >= bytes.length) return isEnd ? singles[backslash] : undefined
  const next = bytes[at + 1]
  if (next === 0x6e || next === 0x72) return { length: 2, bytes: [] }
  return next === slash ? { length: 2, bytes: [slash] } : singles[backslash]
}

function hexValue(bytes: Uint8Array, from: number, to: number): number | undefined {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = hexDigit(bytes[at] ?? 0)
    if (digit < 0) return undefined
    value = value * 16 + digit
  }
  return value
}

/** -1 where it is none. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

function utf8(code: number): readonly number[] {
  const isScalar = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return [...Buffer.from(String.fromCodePoint(isScalar ? code : 0xfffd))]
}
