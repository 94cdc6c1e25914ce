import { readCatalogState } from '@toolyard/catalog/request-reload'
import type { AfterCommit } from '@toolyard/invocations/after-commit'
import type { Within } from '@toolyard/invocations/close-rows'
import type { Consumer } from '@toolyard/queue/consume'
import { createRinger } from '@toolyard/schedules/create-ringer'
import { fireAllDue } from '@toolyard/schedules/fire-all-due'
import { createScheduleDeps } from '@toolyard/schedules/fire-due'
import { listAwaited } from '@toolyard/schedules/list-awaited'
import { reconcile } from '@toolyard/schedules/reconcile'
import type { Tick } from '@toolyard/schedules/tick'
import { repeat } from '@toolyard/service/repeat'
import type { SchedulerContext } from '../start-scheduler.ts'
import { countTicks } from './count-ticks.ts'
import { keepAlarms } from './keep-alarms.ts'
import { watchDue } from './watch-due.ts'

const reconcileEveryMs = 60_000
const alarmsEveryMs = 1_000
const concurrency = 64

type Needed = 'pool' | 'queues' | 'log' | 'metrics' | 'schemaFits'

export type ScheduleService = { drain: (options: { timeoutMs: number }) => Promise<void> }

/**
 * Fires the ticks of cron tools. Alarms of the queue and a look at the moment of the next tick lead to the same verb,
 * and each alone would do; the reconciler, at the start, every minute and after every change of the catalogue, does for
 * all what either may have missed.
 */
export function serveSchedules(
  { pool, queues, log, metrics, schemaFits }: Pick<SchedulerContext, Needed>,
  { afterCommit, within }: { afterCommit: AfterCommit; within: Within },
): ScheduleService {
  const deps = createScheduleDeps({ pool, afterCommit, within })
  const count = countTicks(metrics)
  const ring = createRinger(deps)
  const note = (ticks: readonly Tick[]) => {
    count(ticks)
    for (const { tool, tickAt, fate, reason } of ticks)
      log[fate === 'missed' ? 'warn' : 'debug'](`a tick was ${fate}`, { tool, tick: tickAt, reason })
    return ticks.length > 0
  }
  let reconciled = { atMs: -Infinity, epoch: -1 }
  let hasNewAlarms = false
  const watching = watchDue({
    pool,
    async fire(now) {
      await schemaFits
      const { epoch } = await readCatalogState(pool)
      const isRecent = performance.now() - reconciled.atMs < reconcileEveryMs
      if (isRecent && reconciled.epoch === epoch) return note(await fireAllDue(deps, now))
      const hasFired = note(await reconcile(deps, now))
      reconciled = { atMs: performance.now(), epoch }
      hasNewAlarms = true
      return hasFired
    },
    onFailure: (error) => log.warn('ticks that are due cannot be fired', { error }),
  })
  let consumer: Consumer | undefined
  const ringing = repeat({
    everyMs: alarmsEveryMs,
    async work() {
      await schemaFits
      consumer ??= await queues.consume(
        'ticks',
        async ({ tool }) => {
          note(await ring(tool))
          return { done: true }
        },
        { concurrency },
      )
      if (!hasNewAlarms) return
      hasNewAlarms = false
      await keepAlarms(queues, await listAwaited(pool)).catch((error: unknown) => {
        hasNewAlarms = true
        throw error
      })
    },
    onFailure: (error) => log.warn('the alarms of schedules cannot be kept', { error }),
  })
  return {
    async drain(options) {
      await Promise.all([ringing.stop(), watching.stop()])
      await consumer?.drain(options)
    },
  }
}
