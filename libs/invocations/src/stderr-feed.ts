import type { Pool } from '@toolyard/db/pool'
import { idMessages, notify } from './notify.ts'
import type { StderrChunk } from './stderr-chunk.ts'
import { decodeChunk, stderrChannel, stderrWantedChannel } from './stderr-chunk.ts'

export type HeardStderr = Pick<StderrChunk, 'attempt' | 'text' | 'isGap'>

export type StderrFeed = {
  /** For the watcher of this process. */
  channels: Readonly<Record<string, (payload: string) => void>>
  /** Calls `hear` with what the tool of this invocation writes from about now on. Returns how to stop. */
  watch: (id: string, hear: (heard: HeardStderr) => void) => () => void
  watchedCount: () => number
  close: () => Promise<void>
}

export type StderrFeedOptions = { pool: Pool; onFailure: (error: unknown) => void; renewMs?: number }

// A worker believes it for 7 s: three may be lost.
const renewDefaultMs = 2_000

/** One per process: lets workers know whose stderr is watched, and hands out what they send. Nothing is kept. */
export function createStderrFeed({ pool, onFailure, renewMs }: StderrFeedOptions): StderrFeed {
  const watched = new Map<string, Set<(chunk: StderrChunk) => void>>()
  const toName = new Set<string>()
  let naming: Promise<void> | undefined
  let isClosed = false

  async function nameAll(): Promise<void> {
    // Those who begin to watch in one turn go together.
    await new Promise((resolve) => setImmediate(resolve))
    while (toName.size > 0) {
      const ids = [...toName].filter((id) => watched.has(id))
      toName.clear()
      await notify(pool, idMessages(stderrWantedChannel, ids)).catch(onFailure)
    }
    naming = undefined
  }

  function name(ids: Iterable<string>): void {
    if (isClosed) return
    for (const id of ids) toName.add(id)
    if (toName.size > 0) naming ??= nameAll()
  }

  const renewing = setInterval(() => name(watched.keys()), renewMs ?? renewDefaultMs)

  return {
    channels: {
      [stderrChannel](payload) {
        // Most of what is heard is watched in another process.
        const followers = watched.get(payload.slice(0, payload.indexOf(' ')))
        if (followers === undefined) return
        const chunk = decodeChunk(payload)
        if (chunk !== undefined) for (const follow of followers) follow(chunk)
      },
    },
    watch(id, hear) {
      const followers = watched.get(id) ?? new Set()
      const follow = createFollower(hear)
      watched.set(id, followers.add(follow))
      name([id])
      return () => {
        followers.delete(follow)
        if (followers.size === 0 && watched.get(id) === followers) watched.delete(id)
      }
    },
    watchedCount: () => watched.size,
    async close() {
      isClosed = true
      clearInterval(renewing)
      watched.clear()
      toName.clear()
      await naming
    },
  }
}

/** Finds what is missing by the numbers: lost on the way, or said before it listened. */
function createFollower(hear: (heard: HeardStderr) => void): (chunk: StderrChunk) => void {
  let current = 0
  let next = 0
  return ({ attempt, seq, isGap, text }) => {
    // A worker that was given up may still speak.
    if (attempt < current) return
    if (attempt > current) next = 0
    current = attempt
    hear({ attempt, text, isGap: isGap || seq !== next })
    next = seq + 1
  }
}
