import type { StderrChunk } from './stderr-chunk.ts'
import { chunkMaxBytes } from './stderr-chunk.ts'

export type StderrSource = { id: string; attempt: number }

export type LiveStderr = {
  write: (text: string) => void
  /** Something was left out here. */
  noteGap: () => void
  /** Resolves when the last words are said, or when they take too long. */
  end: () => Promise<void>
  hasMore: () => boolean
  /** The next chunk, if its time has come. */
  take: (nowMs: number) => StderrChunk | undefined
  /** All that may still be said, and a mark where that is not all there was. */
  takeLast: (nowMs: number, chunksMax: number) => StderrChunk[]
}

type Hooks = { onSpeaking: () => void; onEnd: () => Promise<void> }

const chunksPerSecond = 10
// What can be said within a second: more would only be old when its turn comes.
const pendingMaxBytes = chunksPerSecond * chunkMaxBytes

/** What waits to be sent of one attempt's stderr: bounded, and with a mark where something was dropped. */
export function createLiveStderr({ id, attempt }: StderrSource, { onSpeaking, onEnd }: Hooks): LiveStderr {
  let pending = Buffer.alloc(0)
  let isGapBefore = false
  let isGapAfter = false
  let seq = 0
  let takenAtMs: number[] = []

  function noteGap(): void {
    if (pending.length === 0) isGapBefore = true
    else isGapAfter = true
  }

  function next(text: string, nowMs: number): StderrChunk {
    const chunk = { id, attempt, seq, isGap: isGapBefore, text }
    seq += 1
    isGapBefore = pending.length === 0 && isGapAfter
    if (isGapBefore) isGapAfter = false
    takenAtMs.push(nowMs)
    return chunk
  }

  function take(nowMs: number): StderrChunk | undefined {
    takenAtMs = takenAtMs.filter((at) => at > nowMs - 1_000)
    if (pending.length === 0 || takenAtMs.length >= chunksPerSecond) return undefined
    const length = wholeCharacters(pending, chunkMaxBytes)
    const text = pending.toString('utf8', 0, length)
    pending = pending.subarray(length)
    return next(text, nowMs)
  }

  return {
    write(text) {
      // What follows a gap waits until all before it is said, so that one mark is enough.
      if (text === '' || isGapAfter) return
      const bytes = Buffer.from(text)
      const fits = wholeCharacters(bytes, pendingMaxBytes - pending.length)
      pending = Buffer.concat([pending, bytes.subarray(0, fits)])
      if (fits < bytes.length) noteGap()
      onSpeaking()
    },
    noteGap,
    end: onEnd,
    hasMore: () => pending.length > 0,
    take,
    takeLast(nowMs, chunksMax) {
      const chunks: StderrChunk[] = []
      while (chunks.length < chunksMax) {
        const chunk = take(nowMs)
        if (chunk === undefined) break
        chunks.push(chunk)
      }
      if (pending.length > 0) {
        pending = Buffer.alloc(0)
        isGapBefore = true
      }
      if (isGapBefore && seq > 0) chunks.push(next('', nowMs))
      return chunks
    },
  }
}

/** How many of these bytes end with a whole character; at most `max`. */
function wholeCharacters(bytes: Buffer, max: number): number {
  if (bytes.length <= max) return bytes.length
  let at = Math.max(0, max)
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1
  return at
}
