import type { Pool } from '@toolyard/db/pool'
import { createFollowers } from './followers.ts'
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
const idsPerStatement = 10_000

/** One per process: lets workers know whose stderr is watched, and hands out what they send. Nothing is kept. */
export function createStderrFeed({ pool, onFailure, renewMs }: StderrFeedOptions): StderrFeed {
  const followers = createFollowers<(chunk: StderrChunk) => void>({
    idsPerRun: idsPerStatement,
    everyMs: renewMs ?? renewDefaultMs,
    work: (ids) => notify(pool, idMessages(stderrWantedChannel, ids)),
    onFailure,
  })
  return {
    channels: {
      [stderrChannel](payload) {
        // Most of what is heard is watched in another process.
        const watching = followers.of(payload.slice(0, payload.indexOf(' ')))
        if (watching.size === 0) return
        const chunk = decodeChunk(payload)
        if (chunk !== undefined) for (const follow of watching) follow(chunk)
      },
    },
    watch: (id, hear) => followers.add(id, createFollower(hear)),
    watchedCount: () => followers.count(),
    close: () => followers.close(),
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
