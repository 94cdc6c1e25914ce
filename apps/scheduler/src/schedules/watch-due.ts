import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '@toolyard/db/pool'
import type { NextDue } from '@toolyard/schedules/find-next-due'
import { findNextDue } from '@toolyard/schedules/find-next-due'
import { readClock } from '@toolyard/schedules/read-clock'

export type DueWatch = { stop: () => Promise<void> }

const lookEveryMs = 1_000
const pauseMinMs = 20
// What another process has in hand, or the queue has no room for, stays due.
const retryMs = 250

export type DueWatchOptions = {
  pool: Pool
  /** Resolves with whether anything came of it. */
  fire: (now: Date) => Promise<boolean>
  onFailure: (error: unknown) => void
}

/**
 * Looks every second for what is due, and at the very moment of the next tick. Alarms of the queue come as well: this
 * needs no queue, and knows the times that the queue reads in another way.
 */
export function watchDue({ pool, fire, onFailure }: DueWatchOptions): DueWatch {
  const stopped = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    let isFailing = false
    while (!stopped.signal.aborted) {
      let pauseMs = lookEveryMs
      try {
        const now = await readClock(pool)
        const hasFired = await fire(now)
        pauseMs = pauseAfter(hasFired, await findNextDue(pool, now))
        isFailing = false
      } catch (error) {
        if (!isFailing && !stopped.signal.aborted) onFailure(error)
        isFailing = true
      }
      await delay(pauseMs, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }

  return {
    async stop() {
      stopped.abort()
      await running
    },
  }
}

/** Until the next look: at the moment of the next tick, and not at once for what the last look could do nothing about. */
export function pauseAfter(hasFired: boolean, { isLeft, inMs }: NextDue): number {
  const againMs = !isLeft ? lookEveryMs : hasFired ? pauseMinMs : retryMs
  return Math.min(againMs, Math.max(pauseMinMs, inMs ?? lookEveryMs))
}
