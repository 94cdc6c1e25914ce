import type { Within } from '@toolyard/invocations/close-rows'
import type { Logger } from '@toolyard/log/logger'
import { recordOutcomes } from '@toolyard/memory/record-outcomes'
import { recordLessons } from '@toolyard/relevance/record-lessons'
import { withDeliveries } from '@toolyard/webhooks/with-deliveries'
import { withTicks } from './with-ticks.ts'

/** All that is written in the transaction that closes invocations, whoever closes them: memory, lessons, ticks, prompts, messages. */
export const writeEnds = (log: Pick<Logger, 'warn'>): Within => withDeliveries(withTicks(learn, log))

// One after the other: the locks of the memory keep those apart who teach the same tool.
const learn: Within = async (sql, closed) => {
  await recordOutcomes(sql, closed)
  await recordLessons(sql, closed)
}
