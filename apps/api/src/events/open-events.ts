import type { Pool } from '@toolyard/db/pool'
import { createStatusFeed } from '@toolyard/invocations/status-feed'
import { createStderrFeed } from '@toolyard/invocations/stderr-feed'
import type { Watcher } from '@toolyard/invocations/watcher'
import { createWatcher } from '@toolyard/invocations/watcher'
import type { Logger } from '@toolyard/log/logger'
import type { InvocationEvents } from './invocation-events.ts'
import { createInvocationEvents } from './invocation-events.ts'

export type OpenedEvents = { watcher: Watcher; events: InvocationEvents; close: () => Promise<void> }

/** All by which this process hears what becomes of invocations: one connection that listens, and who listens to it. */
export function openEvents(pool: Pool, databaseUrl: string, log: Logger): OpenedEvents {
  const stderrFeed = createStderrFeed({
    pool,
    onFailure: (error) => log.warn('workers cannot be told whose stderr is watched', { error }),
  })
  const watcher = createWatcher({
    pool,
    databaseUrl,
    applicationName: 'toolyard-api-listen',
    channels: stderrFeed.channels,
    onError: (error) => log.warn('announcements cannot be heard: who waits looks every 5 s', { error }),
  })
  const statusFeed = createStatusFeed({
    pool,
    watcher,
    onFailure: (error) => log.warn('invocations that are followed cannot be read', { error }),
  })
  return {
    watcher,
    events: createInvocationEvents({ statusFeed, stderrFeed }),
    async close() {
      await Promise.all([stderrFeed.close(), statusFeed.close(), watcher.close()])
    },
  }
}
