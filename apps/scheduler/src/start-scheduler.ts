import type { schedulerSettings } from '@toolyard/config/apps'
import { pruneProcesses } from '@toolyard/service/prune-processes'
import { repeat } from '@toolyard/service/repeat'
import type { RunningService, ServiceContext } from '@toolyard/service/run-service'

type SchedulerContext = ServiceContext<(typeof schedulerSettings)[number]>

const pruneEveryMs = 60_000

/** What has to happen without anybody asking. Several schedulers may run: each of its works is safe to do twice. */
export async function startScheduler({ log, pool, schemaFits }: SchedulerContext): Promise<RunningService> {
  const pruning = repeat({
    everyMs: pruneEveryMs,
    async work() {
      await schemaFits
      const forgotten = await pruneProcesses(pool)
      if (forgotten > 0) log.info('forgot processes that ended without saying so', { forgotten })
    },
    onFailure: (error) => log.warn('pruning the list of processes failed', { error }),
  })
  return { parts: () => ({}), drain: () => pruning.stop() }
}
