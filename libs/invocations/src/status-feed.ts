import type { Pool } from '@toolyard/db/pool'
import { createFollowers } from './followers.ts'
import type { Invocation } from './invocation.ts'
import { findInvocations } from './read-invocations.ts'
import type { Watcher } from './watcher.ts'

export type StatusFeed = {
  /**
   * Calls `hear` with how this invocation stands, soon, after whatever is announced of it, and now and then; undefined
   * when it is gone. Never with something older than before. Whether it may be seen is the caller's to know.
   */
  watch: (id: string, hear: (one: Invocation | undefined) => void) => () => void
  close: () => Promise<void>
}

export type StatusFeedOptions = {
  pool: Pool
  watcher: Pick<Watcher, 'watch'>
  onFailure: (error: unknown) => void
  recheckMs?: number
}

// Being put back in line, and what it waits for, are not announced.
const recheckDefaultMs = 2_000
const idsPerStatement = 100

/** One per process: reads rows that are followed, those that changed at the same time together. */
export function createStatusFeed({ pool, watcher, onFailure, recheckMs }: StatusFeedOptions): StatusFeed {
  // One statement after the other: answers cannot overtake each other.
  const followers = createFollowers<(one: Invocation | undefined) => void>({
    idsPerRun: idsPerStatement,
    everyMs: recheckMs ?? recheckDefaultMs,
    async work(ids) {
      const found = await findInvocations(pool, ids)
      const byId = new Map(found.map((one) => [one.id, one]))
      for (const id of ids) for (const hear of followers.of(id)) hear(byId.get(id))
    },
    onFailure,
  })
  return {
    watch(id, hear) {
      const stopWatching = watcher.watch(id, () => followers.plan([id]))
      const stop = followers.add(id, hear)
      return () => {
        stopWatching()
        stop()
      }
    },
    close: () => followers.close(),
  }
}
