import type { Pool } from '@toolyard/db/pool'
import { idMessages, notify } from './notify.ts'

export type AnnouncedEvent = 'started' | 'finished' | 'cancel_requested'

export const channelOf = (event: AnnouncedEvent) => `invocations_${event}`

export type Announcer = {
  announce: (event: AnnouncedEvent, ids: readonly string[]) => void
  settle: () => Promise<void>
}

export type AnnouncerOptions = { pool: Pool; onFailure: (error: unknown) => void; coalesceMs?: number }

const coalesceDefaultMs = 5
// Beyond it ids are dropped: whoever waits looks again by itself.
const pendingMax = 50_000

/** Tells all processes what has changed: ids of a few milliseconds in one statement, after their commits. */
export function createAnnouncer({ pool, onFailure, coalesceMs }: AnnouncerOptions): Announcer {
  const pending = new Map<AnnouncedEvent, Set<string>>()
  let pendingCount = 0
  let sending: Promise<void> | undefined

  async function sendAll(): Promise<void> {
    while (pending.size > 0) {
      // Also lets what finishes while a statement is under way go with the next one.
      await new Promise((resolve) => setTimeout(resolve, coalesceMs ?? coalesceDefaultMs))
      const messages = [...pending].flatMap(([event, ids]) => idMessages(channelOf(event), [...ids]))
      pending.clear()
      pendingCount = 0
      await notify(pool, messages).catch(onFailure)
    }
    sending = undefined
  }

  return {
    announce(event, ids) {
      if (ids.length === 0 || pendingCount + ids.length > pendingMax) return
      const known = pending.get(event) ?? new Set()
      for (const id of ids) known.add(id)
      pending.set(event, known)
      pendingCount += ids.length
      sending ??= sendAll()
    },
    async settle() {
      await sending
    },
  }
}
