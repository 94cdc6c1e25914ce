import type { Pool } from '@toolyard/db/pool'
import type { QueueName } from '@toolyard/queue/names'
import type { Queues } from '@toolyard/queue/queues'
import type { NewJob } from '@toolyard/queue/stored-job'
import { createAnnouncer } from './announce.ts'

/** A row that a worker may be given. `delayMs`: its time has not come; the job then stands under an id of its own. */
export type ReadyJob = { id: string; attempt: number; priority: number; delayMs?: number }

/** What a committed transaction has to tell others. Every part is a hint: the rows are the truth (I4). */
export type Effects = {
  jobs?: readonly ReadyJob[]
  started?: readonly string[]
  finished?: readonly string[]
  cancelRequested?: readonly string[]
  deliveries?: readonly NewJob<'deliveries'>[]
  ticks?: readonly NewJob<'ticks'>[]
}

export type AfterCommit = {
  /** Returns at once; what fails is told to `onFailure` and repaired by the relay or by waiters that look again. */
  run: (effects: Effects) => void
  /** When all that was begun has ended. */
  settle: () => Promise<void>
}

export type AfterCommitOptions = {
  pool: Pool
  queues: Pick<Queues, 'enqueue'>
  onFailure: (error: unknown) => void
}

/** What every verb that changes rows needs: where they are, and what to do once they are committed. */
export type Deps = { pool: Pool; afterCommit: Pick<AfterCommit, 'run'> }

export function createAfterCommit({ pool, queues, onFailure }: AfterCommitOptions): AfterCommit {
  const announcer = createAnnouncer({ pool, onFailure })
  const enqueues = new Set<Promise<void>>()

  function enqueue<Q extends QueueName>(queue: Q, jobs: NewJob<Q>[]): void {
    if (jobs.length === 0) return
    const adding = queues
      .enqueue(queue, jobs)
      .catch(onFailure)
      .finally(() => enqueues.delete(adding))
    enqueues.add(adding)
  }

  return {
    run({ jobs = [], deliveries = [], ticks = [], started = [], finished = [], cancelRequested = [] }) {
      enqueue('invocations', jobs.map(toJob))
      enqueue('deliveries', [...deliveries])
      enqueue('ticks', [...ticks])
      announcer.announce('started', started)
      announcer.announce('finished', finished)
      announcer.announce('cancel_requested', cancelRequested)
    },
    async settle() {
      while (enqueues.size > 0) await Promise.all(enqueues)
      await announcer.settle()
    },
  }
}

export function toJob(job: ReadyJob) {
  // Adding an id whose job still exists does nothing. A row that is admitted while its delayed job is just ending must
  // be queued all the same, so the two do not share an id; the second to come finds the row claimed.
  const id = `${job.id}-${job.attempt}`
  return {
    id: job.delayMs === undefined ? id : `${id}-due`,
    data: { invocationId: job.id, attempt: job.attempt },
    priority: job.priority,
    delayMs: Math.ceil(job.delayMs ?? 0),
  }
}
