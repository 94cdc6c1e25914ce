import type { AfterCommit } from '@toolyard/invocations/after-commit'
import type { Within } from '@toolyard/invocations/close-rows'
import { expire } from '@toolyard/invocations/expire'
import { relay } from '@toolyard/invocations/relay'
import { requeueStale } from '@toolyard/invocations/requeue-stale'
import type { Pool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import type { Queues } from '@toolyard/queue/queues'
import { relayDeliveries } from '@toolyard/webhooks/relay-deliveries'
import { repeat } from '@toolyard/service/repeat'
import { tellExhaustedBudgets } from './tell-exhausted-budgets.ts'

export type RepairOptions = {
  pool: Pool
  /** What else is written when invocations are closed. */
  within: Within
  queues: Queues
  afterCommit: AfterCommit
  log: Logger
  schemaFits: Promise<void>
}

/**
 * What keeps every accepted invocation on its way (I1, I4): rows that the queue lost are put back, attempts whose worker
 * is gone are taken back, what waited too long expires.
 */
export function repairInvocations({ pool, within, queues, afterCommit, log, schemaFits }: RepairOptions) {
  const deps = { pool, afterCommit }
  const works: { name: string; everyMs: number; work: () => Promise<void> }[] = [
    {
      name: 'bringing invocations back to the queue',
      everyMs: 5_000,
      work: async () => void (await relay(deps, queues)),
    },
    {
      name: 'taking back lost attempts',
      everyMs: 2_000,
      async work() {
        const count = await requeueStale(deps, within)
        if (count > 0) log.warn('took back attempts whose worker is gone', { count })
      },
    },
    {
      name: 'expiring invocations',
      everyMs: 1_000,
      async work() {
        const count = await expire(deps, within)
        if (count > 0) log.info('invocations expired before they could run', { count })
      },
    },
    {
      name: 'bringing deliveries back to the queue',
      everyMs: 5_000,
      work: async () => void (await relayDeliveries(pool, queues)),
    },
    {
      name: 'telling of used up budgets',
      everyMs: 5_000,
      work: () => tellExhaustedBudgets(pool, queues),
    },
  ]
  const running = works.map(({ name, everyMs, work }) =>
    repeat({
      everyMs,
      async work() {
        await schemaFits
        await work()
      },
      onFailure: (error) => log.warn(`${name} failed`, { error }),
    }),
  )
  return { stop: async () => void (await Promise.all(running.map((one) => one.stop()))) }
}
