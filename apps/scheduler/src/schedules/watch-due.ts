import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '@toolyard/db/pool'
import { readClock } from '@toolyard/schedules/create-ringer'
import { findNextDue } from '@toolyard/schedules/find-next-due'

export type DueWatch = { stop: () => Promise<void> }

const lookEveryMs = 1_000
// One that another process has in hand, or that cannot be fired, stays due.
const pauseMinMs = 20

export type DueWatchOptions = {
  pool: Pool
  fire: (now: Date) => Promise<void>
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
        await fire(await readClock(pool))
        pauseMs = Math.min(lookEveryMs, Math.max(pauseMinMs, (await findNextDue(pool)) ?? lookEveryMs))
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
