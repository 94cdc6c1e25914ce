import { listCostBudgets } from '@toolyard/catalog/list-cost-budgets'
import type { Pool } from '@toolyard/db/pool'
import { noteExhausted } from '@toolyard/memory/note-exhausted'
import type { Queues } from '@toolyard/queue/queues'
import type { NewJob } from '@toolyard/queue/stored-job'
import { writeEvent } from '@toolyard/webhooks/write-event'

/**
 * Tells whoever asked for it that a tool has used up its budget. Here, and not where the spend is written: that happens
 * for each call, and this once a day.
 */
export async function tellExhaustedBudgets(pool: Pool, queues: Pick<Queues, 'enqueue'>): Promise<void> {
  const limits = await listCostBudgets(pool)
  if (limits.size === 0) return
  const jobs: NewJob<'deliveries'>[] = []
  await noteExhausted(pool, limits, async (sql, { tool, spent, limit, resetsAt }) => {
    const data = { spent, limit, resets_at: resetsAt.toISOString() }
    jobs.push(...(await writeEvent(sql, { event: 'tool.budget_exhausted', tool, topic: null, data })))
  })
  if (jobs.length > 0) await queues.enqueue('deliveries', jobs)
}
