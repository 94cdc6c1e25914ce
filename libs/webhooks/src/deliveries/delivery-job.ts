import type { NewJob } from '@toolyard/queue/stored-job'

type Waiting = { id: string; tries: number }

/**
 * One job for each try: a job that is still there from another cannot keep this one out. `because`: for a job that must
 * come although the one of this try may just be ending without having begun it.
 */
export const toDeliveryJob = ({ id, tries }: Waiting, because?: string): NewJob<'deliveries'> => ({
  id: `${id}-${tries + 1}${because === undefined ? '' : `-${because}`}`,
  data: { deliveryId: id },
})
