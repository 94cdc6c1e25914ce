import type { SecretTrie } from './secret-trie.ts'
import type { ReadUnit } from './units.ts'
import { hexDigit } from './units.ts'

// One reading of the output: it follows the bytes in one spelling and notes where secrets lie in the raw output.
// Places are counted from the beginning of the stream, so that a secret may lie across any number of chunks.

export type Range = { start: number; end: number }

export type Reading = {
  /** Reads on from where it stopped. `bytes` begins at place `offset` of the stream. */
  read: (bytes: Uint8Array, offset: number, isEnd: boolean) => void
  /** Nothing before this place can become part of a secret any more. */
  safeBefore: () => number
}

/** Gathers bits into bytes: `bitsOf` gives the value of a digit, -1 for what is none. */
export type Digits = { bits: 4 | 6; skip: number; valueOf: (byte: number) => number }

type Follow = { trie: SecretTrie; onFound: (range: Range) => void }

export function createReading(readUnit: ReadUnit, follow: Follow): Reading {
  const track = createTrack(follow)
  return createReader(readUnit, track.safeBefore, (byte, start, end) => track.push(byte, start, end))
}

/**
 * Reads base64 or hex: bytes that are no digits end a run. `skip` digits of each run are passed over, one reading
 * for each way in which the groups of a longer encoded text may lie.
 */
export function createDigitReading(readUnit: ReadUnit, digits: Digits, follow: Follow): Reading {
  const track = createTrack(follow)
  let skipped = 0
  let bits = 0
  let held = 0
  let start = 0
  const onByte = (byte: number, from: number, to: number): void => {
    const value = digits.valueOf(byte)
    if (value < 0) {
      if (skipped > 0 || bits > 0 || track.isInside()) track.reset()
      skipped = 0
      bits = 0
      return
    }
    if (skipped < digits.skip) {
      skipped++
      return
    }
    if (bits === 0) start = from
    held = ((held << digits.bits) | value) & 0xffff
    bits += digits.bits
    if (bits < 8) return
    bits -= 8
    track.push((held >> bits) & 0xff, start, to)
    // The digit that ended this byte also begins the next one, unless it is used up.
    start = from
  }
  const safeBefore = (): number => {
    if (bits === 0 || track.isInside()) return track.safeBefore()
    return follow.trie.mayBegin(held & (2 ** bits - 1), bits) ? start : Number.POSITIVE_INFINITY
  }
  return createReader(readUnit, safeBefore, onByte)
}

function createReader(
  readUnit: ReadUnit,
  safeBefore: () => number,
  onByte: (byte: number, start: number, end: number) => void,
): Reading {
  let place = 0
  return {
    read: (bytes, offset, isEnd) => {
      const end = offset + bytes.length
      while (place < end) {
        const unit = readUnit(bytes, place - offset, isEnd)
        if (unit === undefined) return
        const ends = place + unit.length
        for (let i = 0; i < unit.bytes.length; i++) onByte(unit.bytes[i] ?? 0, place, ends)
        place = ends
      }
    },
    safeBefore: () => Math.min(place, safeBefore()),
  }
}

function createTrack({ trie, onFound }: Follow) {
  // Where each of the bytes read last began; a power of two, so that a mask finds the slot.
  const capacity = 2 ** Math.ceil(Math.log2(trie.longest + 1))
  const starts = new Float64Array(capacity)
  let state = 0
  let count = 0
  const startOf = (depth: number) => starts[(count - depth) & (capacity - 1)] ?? 0
  return {
    push: (byte: number, start: number, end: number): void => {
      state = trie.next(state, byte)
      starts[count & (capacity - 1)] = start
      count++
      if (state === 0) return
      const found = trie.found(state)
      if (found > 0) onFound({ start: startOf(found), end })
    },
    reset: (): void => {
      state = 0
    },
    isInside: () => state !== 0,
    safeBefore: () => (state === 0 ? Number.POSITIVE_INFINITY : startOf(trie.depth(state))),
  }
}

/** Reads bytes as they are: the reading that is always needed, without the detour over units. */
export function createPlainReading(follow: Follow): Reading {
  const track = createTrack(follow)
  let place = 0
  return {
    read: (bytes, offset) => {
      for (let at = place - offset; at < bytes.length; at++)
        track.push(bytes[at] ?? 0, offset + at, offset + at + 1)
      place = offset + bytes.length
    },
    safeBefore: () => Math.min(place, track.safeBefore()),
  }
}

const base64Values = new Int8Array(256).fill(-1)
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
for (const [value, char] of Array.from(alphabet).entries()) base64Values[char.charCodeAt(0)] = value
base64Values['-'.charCodeAt(0)] = 62
base64Values['_'.charCodeAt(0)] = 63

/** Both alphabets at once. */
const base64Digit = (byte: number) => base64Values[byte] ?? -1

export const hexDigits = (skip: number): Digits => ({ bits: 4, skip, valueOf: hexDigit })

export const base64Digits = (skip: number): Digits => ({ bits: 6, skip, valueOf: base64Digit })

/** The longest run of bytes that may belong to an encoded text. */
export function longestRun(bytes: Uint8Array, { valueOf }: Digits): number {
  const belongs = Uint8Array.from({ length: 256 }, (_, byte) => (valueOf(byte) >= 0 ? 1 : 0))
  for (const char of '\n\r\\%') belongs[char.charCodeAt(0)] = 1
  let longest = 0
  let start = 0
  for (let at = 0; at < bytes.length; at++) {
    if (belongs[bytes[at] ?? 0] === 1) continue
    if (at - start > longest) longest = at - start
    start = at + 1
  }
  return Math.max(longest, bytes.length - start)
}
