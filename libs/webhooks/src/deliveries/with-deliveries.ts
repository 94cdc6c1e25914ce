import type { Within } from '@toolyard/invocations/close-rows'
import { toDeliveryJob } from './delivery-job.ts'
import { writeDeliveries } from './write-deliveries.ts'

/** What else is written when invocations end, and who is to be told of it. */
export function withDeliveries(within: Within): Within {
  return async (sql, closed) => {
    const [told, ids] = await Promise.all([within(sql, closed), writeDeliveries(sql, closed)])
    const deliveries = [...(told?.deliveries ?? []), ...ids.map((id) => toDeliveryJob({ id, tries: 0 }))]
    return { ...told, deliveries }
  }
}
