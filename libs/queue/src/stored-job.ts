import { delayMaxMs, priorityDefault, priorityMax } from '@toolyard/contract/call-limits'
import type { JobData, QueueName } from './names.ts'
import { assertJobData, assertJobId } from './names.ts'
import { QueueError } from './queue-error.ts'

export type NewJob<Q extends QueueName> = {
  /** Adding an id again is a no-op while its job exists. */
  id: string
  data: JobData<Q>
  /** 0 to 9, higher first; 5 when not given. */
  priority?: number
  delayMs?: number
}

export type StoredJob = { name: string; data: object; opts: StoredJobOptions }

type StoredJobOptions = typeof jobOptions & { jobId: string; priority: number; delay: number }

// Retries live in the rows, so a job is tried once; and a job that has ended has nothing left to tell.
export const jobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true }

/** Checks jobs and puts them in BullMQ's words. */
export function storedJobs<Q extends QueueName>(queue: Q, jobs: NewJob<Q>[]): StoredJob[] {
  return jobs.map((job) => {
    const { id, data, priority = priorityDefault, delayMs = 0 } = job
    assertJobId(id)
    assertJobData(queue, data)
    if (!isWholeUpTo(priorityMax, priority))
      throw new QueueError('refused', `${id}: priority is a whole number from 0 to ${priorityMax}`)
    if (!isWholeUpTo(delayMaxMs, delayMs))
      throw new QueueError('refused', `${id}: delayMs is a whole number from 0 to ${delayMaxMs}`)
    return {
      name: queue,
      data,
      opts: { ...jobOptions, jobId: id, priority: storedPriority(priority), delay: delayMs },
    }
  })
}

/** BullMQ takes lower numbers first, and 0 (no priority) before all of them: so everything gets one. */
export function storedPriority(priority: number): number {
  return 1 + priorityMax - priority
}

function isWholeUpTo(max: number, value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= max
}
