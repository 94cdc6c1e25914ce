import type { JobHandler } from '@toolyard/queue/consume'
import type { Queues } from '@toolyard/queue/queues'
import type { NewJob } from '@toolyard/queue/stored-job'
import type { Deliver } from './create-deliverer.ts'
import { placesOfKeyMax } from './judge-look.ts'

// They wait for others nearly all of the time, so that more of them cost little; but each beyond the places of a key
// that names very many receivers at once is looked at for nothing.
/** At once in one process: whomever a key names, a third of it is left to the others. More of them slow down all. */
export const deliveriesMax = 1.5 * placesOfKeyMax

type Job = NewJob<'deliveries'>

export type DeliveryHandlerDeps = {
  deliver: Deliver
  queues: Pick<Queues, 'enqueue'>
  /** Whether nothing new is to be begun any more. */
  isEnding?: () => boolean
}

/**
 * A job stands for a place at a receiver: it goes on with whoever is called when a try ends, until nobody waits. To
 * bring each of them through the queue would cost more than all the rest of a try. A chain that breaks off leaves rows
 * that the relay finds.
 */
export function handleDeliveryJobs({
  deliver,
  queues,
  isEnding = () => false,
}: DeliveryHandlerDeps): JobHandler<'deliveries'> {
  return async ({ deliveryId }, { signal }) => {
    const add = async (job: Job | undefined) => {
      if (job !== undefined) await queues.enqueue('deliveries', [job])
    }
    const first = await deliver(deliveryId, signal)
    if (first.kind === 'again') {
      await add(first.next)
      return { again: { delayMs: first.againMs } }
    }
    let called = first.next
    while (called !== undefined && !isEnding() && !signal.aborted) {
      const delivered = await deliver(called.data.deliveryId, signal)
      // Its own try is another one than that of the job of the queue, which is not to come back.
      if (delivered.kind === 'again') await add({ ...called, delayMs: delivered.againMs })
      called = delivered.next
    }
    await add(called)
    return { done: true }
  }
}
