import type { schedulerSettings } from '@toolyard/config/apps'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import { pruneProcesses } from '@toolyard/service/prune-processes'
import { repeat } from '@toolyard/service/repeat'
import type { RunningService, ServiceContext } from '@toolyard/service/run-service'
import { writeEnds } from '@toolyard/ends/write-ends'
import { dropOld } from './drop-old.ts'
import { repairInvocations } from './repair-invocations.ts'
import { serveSchedules } from './schedules/serve-schedules.ts'

export type SchedulerContext = ServiceContext<(typeof schedulerSettings)[number]>

const pruneEveryMs = 60_000

/** What has to happen without anybody asking. Several schedulers may run: each of its works is safe to do twice. */
export async function startScheduler(context: SchedulerContext): Promise<RunningService> {
  const { log, pool, queues, schemaFits } = context
  const pruning = repeat({
    everyMs: pruneEveryMs,
    async work() {
      await schemaFits
      const forgotten = await pruneProcesses(pool)
      if (forgotten > 0) log.info('forgot processes that ended without saying so', { forgotten })
    },
    onFailure: (error) => log.warn('pruning the list of processes failed', { error }),
  })
  const afterCommit = createAfterCommit({
    pool,
    queues,
    onFailure: (error) =>
      log.warn('the queue or its announcements fail: the next turn repairs it', { error }),
  })
  const within = writeEnds(log)
  const repairing = repairInvocations({ pool, within, queues, afterCommit, log, schemaFits })
  const dropping = dropOld(context)
  const schedules = serveSchedules(context, { afterCommit, within })
  return {
    parts: () => ({}),
    async drain(signal) {
      const timeoutMs = signal.aborted ? 0 : context.config.drainSeconds * 1_000
      await Promise.all([pruning.stop(), dropping.stop(), repairing.stop(), schedules.drain({ timeoutMs })])
      await afterCommit.settle()
    },
  }
}
