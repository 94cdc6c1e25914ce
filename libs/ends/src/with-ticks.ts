import type { Sql } from '@toolyard/db/pool'
import type { Within } from '@toolyard/invocations/close-rows'
import type { Logger } from '@toolyard/log/logger'
import type { NewJob } from '@toolyard/queue/stored-job'
import { endTicks } from '@toolyard/schedules/end-ticks'
import type { CreatedPrompt } from '@toolyard/schedules/prompt'
import { writeEvent } from '@toolyard/webhooks/write-event'

/** What else is written when invocations end, and then what that means for schedules. */
export function withTicks(within: Within, log: Pick<Logger, 'warn'>): Within {
  return async (sql, closed) => {
    // One after the other: that is the order of locks.
    const told = await within(sql, closed)
    const { prompts, alarms, paused } = await endTicks(sql, closed)
    const deliveries = [...(told?.deliveries ?? [])]
    for (const prompt of prompts) deliveries.push(...(await tell(sql, prompt)))
    for (const one of paused) log.warn('a schedule is paused', one)
    return { deliveries, ticks: [...(told?.ticks ?? []), ...alarms] }
  }
}

/** The text is not for everybody who may see the tool: whoever may have prompts claims it. */
function tell(sql: Sql, prompt: CreatedPrompt): Promise<NewJob<'deliveries'>[]> {
  const { id, tool, topic, invocationId, tickAt, priority } = prompt
  const data = { id, invocation_id: invocationId, tick_at: tickAt.toISOString(), priority }
  return writeEvent(sql, { event: 'prompt.created', tool, topic, data })
}
