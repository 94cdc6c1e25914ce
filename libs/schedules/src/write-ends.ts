import type { Within } from '@toolyard/invocations/close-rows'
import type { Logger } from '@toolyard/log/logger'
import { recordOutcomes } from '@toolyard/memory/record-outcomes'
import { withDeliveries } from '@toolyard/webhooks/with-deliveries'
import { withTicks } from './ticks/with-ticks.ts'

/** All that is written in the transaction that closes invocations, whoever closes them: memory, ticks, prompts, messages. */
export const writeEnds = (log: Pick<Logger, 'warn'>): Within => withDeliveries(withTicks(recordOutcomes, log))
