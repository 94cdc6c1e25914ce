import type { Json } from './json.ts'
import { redactJsonWith } from './redaction/redact-json.ts'
import type { Range, Reading } from './redaction/reading.ts'
import {
  base64Digits,
  createDigitReading,
  createPlainReading,
  createReading,
  hexDigits,
  longestRun,
} from './redaction/reading.ts'
import { createSecretTrie } from './redaction/secret-trie.ts'
import type { SecretTrie } from './redaction/secret-trie.ts'
import { readEncoded, readForm, readHtml, readJson, readPercent } from './redaction/units.ts'

// Takes stored secrets out of whatever is stored, streamed or answered (I6). The output is read in several
// spellings at once; where any of them finds a secret, the raw bytes that spell it become `***`. Secrets that
// overlap are one finding, so the longest match wins and no part of a longer secret stays behind a shorter one.

export type RedactingStream = { push: (chunk: Buffer) => Buffer; end: () => Buffer }

export type Redactor = {
  redact: (text: string) => string
  /** Strings and keys, at any depth. */
  redactJson: (value: Json) => Json
  stream: () => RedactingStream
}

/** Shorter ones would be found inside ordinary words. */
const secretCharactersMin = 8

const mark = '***'
const markBytes = Buffer.from(mark)

export function createRedactor(secrets: readonly string[]): Redactor {
  const wanted = secrets
    .flatMap((secret) => [secret, secret.trim()])
    .filter((secret) => secret.length >= secretCharactersMin)
  const trie = createSecretTrie([...new Set(wanted)].map((secret) => Buffer.from(secret)))
  const redact = trie.longest === 0 ? (text: string) => text : (text: string) => redactText(trie, text)
  return {
    redact,
    redactJson: (value) => redactJsonWith(redact, value),
    stream: () => (trie.longest === 0 ? passThrough : createStream(trie)),
  }
}

const passThrough: RedactingStream = { push: (chunk) => chunk, end: () => Buffer.alloc(0) }

function redactText(trie: SecretTrie, text: string): string {
  const bytes = Buffer.from(text)
  const found: Range[] = []
  for (const reading of createReadings(trie, (range) => found.push(range), bytes))
    reading.read(bytes, 0, true)
  if (found.length === 0) return text
  const pieces: Buffer[] = []
  let at = 0
  for (const { start, end } of mergeRanges(found)) {
    pieces.push(bytes.subarray(at, start), markBytes)
    at = end
  }
  pieces.push(bytes.subarray(at))
  return Buffer.concat(pieces).toString()
}

function createStream(trie: SecretTrie): RedactingStream {
  let found: Range[] = []
  const readings = createReadings(trie, (range) => found.push(range))
  let held: Buffer = Buffer.alloc(0)
  let offset = 0

  const advance = (chunk: Buffer, isEnd: boolean): Buffer => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    for (const reading of readings) reading.read(bytes, offset, isEnd)
    const ends = offset + bytes.length
    const ranges = mergeRanges(found)
    let safe = isEnd ? ends : Math.min(ends, ...readings.map((reading) => reading.safeBefore()))
    const open = ranges.find((range) => range.end > safe)
    if (open !== undefined) safe = Math.min(safe, open.start)
    const pieces: Buffer[] = []
    let at = offset
    for (const { start, end } of ranges) {
      if (end > safe) break
      pieces.push(bytes.subarray(at - offset, start - offset), markBytes)
      at = end
    }
    pieces.push(bytes.subarray(at - offset, safe - offset))
    found = ranges.filter((range) => range.end > safe)
    // A copy, because the caller may use its chunk again.
    held = Buffer.from(bytes.subarray(safe - offset))
    offset = safe
    return Buffer.concat(pieces)
  }
  return { push: (chunk) => advance(chunk, false), end: () => advance(Buffer.alloc(0), true) }
}

/** With the whole output at hand, spellings whose sign is nowhere in it are not read. */
function createReadings(trie: SecretTrie, onFound: (range: Range) => void, whole?: Buffer): Reading[] {
  const follow = { trie, onFound }
  const has = (sign: string) => whole === undefined || whole.includes(sign)
  const readings = [createPlainReading(follow)]
  if (has('%')) readings.push(createReading(readPercent, follow))
  if (has('+')) readings.push(createReading(readForm, follow))
  if (has('\\')) readings.push(createReading(readJson, follow))
  if (has('&')) readings.push(createReading(readHtml, follow))
  for (const digits of [hexDigits(0), hexDigits(1), ...[0, 1, 2, 3].map(base64Digits)]) {
    const digitsMin = Math.floor((secretCharactersMin * 8) / digits.bits)
    if (whole === undefined || longestRun(whole, digits) >= digitsMin)
      readings.push(createDigitReading(readEncoded, digits, follow))
  }
  return readings
}

/** In order, those that overlap as one. */
function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1)
    if (last !== undefined && range.start < last.end) last.end = Math.max(last.end, range.end)
    else merged.push({ ...range })
  }
  return merged
}
