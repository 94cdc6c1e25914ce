import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '@toolyard/db/pool'
import type { LiveStderr, StderrSource } from './live-stderr.ts'
import { createLiveStderr } from './live-stderr.ts'
import { notify } from './notify.ts'
import type { StderrChunk } from './stderr-chunk.ts'
import { encodeChunk, stderrChannel, stderrWantedChannel } from './stderr-chunk.ts'
import { isInvocationId } from './visible.ts'

export type StderrSender = {
  /** For the watcher of this process. */
  channels: Readonly<Record<string, (payload: string) => void>>
  /** Whether anybody watches: without that nothing is worth redacting. */
  isWanted: (id: string) => boolean
  /** The stderr of one attempt, redacted before it comes here (I6). */
  open: (source: StderrSource) => LiveStderr
  close: () => Promise<void>
}

export type StderrSenderOptions = {
  pool: Pool
  onFailure: (error: unknown) => void
  now?: () => number
}

const wantedForMs = 7_000
const wantedMax = 20_000
const turnMs = 100
// Of all attempts of this worker, however many are watched: 400 kB a second.
const chunksPerTurn = 10
const chunksPerSecond = 100
// An attempt's outcome is not kept waiting longer for the last words on stderr.
const lastWordsMs = 250

/**
 * One per worker: sends what tools write to stderr to those who watch, a few chunks in each turn of 100 ms in one
 * statement, and never more than one statement at a time. What that does not carry is dropped and marked.
 */
export function createStderrSender(options: StderrSenderOptions): StderrSender {
  const { now = () => performance.now() } = options
  const wishes = createWishes(now)
  const line = createLine(options)
  const budget = createBudget(chunksPerSecond, now)
  const speaking = new Set<LiveStderr>()
  let turn: NodeJS.Timeout | undefined
  let isClosed = false

  function takeChunks(chunksMax: number): StderrChunk[] {
    const chunks: StderrChunk[] = []
    for (const live of Array.from(speaking)) {
      if (chunks.length >= chunksMax) break
      const chunk = live.take(now())
      if (chunk !== undefined) chunks.push(chunk)
      // To the end of the line, so that those who wait have the next turn.
      speaking.delete(live)
      if (live.hasMore()) speaking.add(live)
    }
    return chunks
  }

  function takeTurn(): void {
    turn = undefined
    // While a statement is under way what comes waits, and what does not fit is dropped.
    if (!line.isBusy()) {
      const chunks = takeChunks(Math.min(chunksPerTurn, budget.left()))
      budget.spend(chunks.length)
      line.enqueue(chunks)
    }
    if (speaking.size > 0) plan()
  }

  function plan(): void {
    if (!isClosed) turn ??= setTimeout(takeTurn, turnMs)
  }

  async function sayLastWords(live: LiveStderr): Promise<void> {
    speaking.delete(live)
    const chunks = live.takeLast(now(), budget.left())
    if (chunks.length === 0 || isClosed) return
    budget.spend(chunks.length)
    line.enqueue(chunks)
    await Promise.race([line.settle(), delay(lastWordsMs, undefined, { ref: false })])
  }

  return {
    channels: { [stderrWantedChannel]: wishes.note },
    isWanted: wishes.isWanted,
    open(source) {
      const live: LiveStderr = createLiveStderr(source, {
        onSpeaking() {
          speaking.add(live)
          plan()
        },
        onEnd: () => sayLastWords(live),
      })
      return live
    },
    async close() {
      isClosed = true
      clearTimeout(turn)
      await line.settle()
    },
  }
}

/** Who is watched, as it was said lately. */
function createWishes(now: () => number) {
  const untilMs = new Map<string, number>()
  return {
    note: (payload: string): void => {
      const at = now()
      for (const [id, until] of untilMs) if (until < at) untilMs.delete(id)
      for (const id of payload.split(','))
        if (isInvocationId(id) && (untilMs.has(id) || untilMs.size < wantedMax))
          untilMs.set(id, at + wantedForMs)
    },
    isWanted: (id: string): boolean => (untilMs.get(id) ?? -1) >= now(),
  }
}

/** One statement after the other. */
function createLine({ pool, onFailure }: StderrSenderOptions) {
  let sending: Promise<void> | undefined
  let isFailing = false

  async function send(chunks: readonly StderrChunk[]): Promise<void> {
    try {
      await notify(
        pool,
        chunks.map((chunk) => ({ channel: stderrChannel, payload: encodeChunk(chunk) })),
      )
      isFailing = false
    } catch (error) {
      // Once until it works again: it is tried ten times a second.
      if (!isFailing) onFailure(error)
      isFailing = true
    }
  }

  return {
    isBusy: () => sending !== undefined,
    enqueue(chunks: readonly StderrChunk[]): void {
      if (chunks.length === 0) return
      const mine = (sending ?? Promise.resolve())
        .then(() => send(chunks))
        .finally(() => {
          if (sending === mine) sending = undefined
        })
      sending = mine
    },
    settle: async (): Promise<void> => sending,
  }
}

/** So many in each second. */
function createBudget(perSecond: number, now: () => number) {
  let second = 0
  let spent = 0
  return {
    left(): number {
      const current = Math.floor(now() / 1_000)
      if (current !== second) spent = 0
      second = current
      return Math.max(0, perSecond - spent)
    },
    spend: (count: number) => void (spent += count),
  }
}
