import type { Pool } from '@toolyard/db/pool'
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
  const followed = new Map<string, Set<(one: Invocation | undefined) => void>>()
  const toRead = new Set<string>()
  let reading: Promise<void> | undefined
  let isClosed = false

  async function read(ids: readonly string[]): Promise<void> {
    const found = await findInvocations(pool, ids)
    const byId = new Map(found.map((one) => [one.id, one]))
    for (const id of ids) for (const hear of followed.get(id) ?? []) hear(byId.get(id))
  }

  /** One statement after the other: answers cannot overtake each other. */
  async function readAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (toRead.size > 0) {
      const ids = [...toRead].slice(0, idsPerStatement)
      for (const id of ids) toRead.delete(id)
      await read(ids.filter((id) => followed.has(id))).catch(onFailure)
    }
    reading = undefined
  }

  function plan(ids: Iterable<string>): void {
    if (isClosed) return
    for (const id of ids) toRead.add(id)
    if (toRead.size > 0) reading ??= readAll()
  }

  const rechecking = setInterval(() => plan(followed.keys()), recheckMs ?? recheckDefaultMs)

  return {
    watch(id, hear) {
      const stopWatching = watcher.watch(id, () => plan([id]))
      const others = followed.get(id) ?? new Set()
      followed.set(id, others.add(hear))
      plan([id])
      return () => {
        stopWatching()
        others.delete(hear)
        if (others.size === 0 && followed.get(id) === others) followed.delete(id)
      }
    },
    async close() {
      isClosed = true
      clearInterval(rechecking)
      toRead.clear()
      await reading
    },
  }
}
