import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Pool } from '@toolyard/db/pool'
import { idMessages, notify } from './notify.ts'

export type AnnouncedEvent = 'started' | 'finished' | 'cancel_requested'

export const channelOf = (event: AnnouncedEvent) => `invocations_${event}`

export type Announcer = {
  announce: (event: AnnouncedEvent, ids: readonly string[]) => void
  settle: () => Promise<void>
}

export type AnnouncerOptions = { pool: Pool; onFailure: (error: unknown) => void }

// Between two statements: who announces after a while without any does not wait.
const coalesceMs = 5
// Beyond it ids are dropped: whoever waits looks again by itself.
const pendingMax = 50_000

/** Tells all processes what has changed: at once, and then ids of a few milliseconds in one statement. After their commits. */
export function createAnnouncer({ pool, onFailure }: AnnouncerOptions): Announcer {
  const pending = new Map<AnnouncedEvent, Set<string>>()
  let pendingCount = 0
  let sending: Promise<void> | undefined
  let lastSentMs = Number.NEGATIVE_INFINITY

  async function sendAll(): Promise<void> {
    while (pending.size > 0) {
      const waitMs = lastSentMs + coalesceMs - performance.now()
      // Also lets what is announced in the same turn go with it.
      await (waitMs > 0 ? delay(waitMs) : nextTurn())
      const messages = [...pending].flatMap(([event, ids]) => idMessages(channelOf(event), [...ids]))
      pending.clear()
      pendingCount = 0
      lastSentMs = performance.now()
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
