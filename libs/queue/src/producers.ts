import type { Backend, RawQueue } from './backend.ts'
import { createCoalescer } from './coalesce.ts'
import type { QueueName } from './names.ts'
import type { StoredJob } from './stored-job.ts'

export type Producers = {
  add: (queue: QueueName, jobs: StoredJob[]) => Promise<void>
  open: (queue: QueueName) => Promise<RawQueue>
  close: () => Promise<void>
}

const batchMax = 1_000
const deadlockDetected = '40P01'
const deadlocksMax = 3
const unansweredMax = 20_000

/** The sending half: BullMQ's queues, opened when first needed, each with its adds joined into batches. */
export function createProducers(backend: Backend, onError: (error: Error) => void): Producers {
  const queues = new Map<QueueName, Promise<RawQueue>>()
  const adders = new Map<QueueName, (jobs: StoredJob[]) => Promise<void>>()

  async function openQueue(name: QueueName): Promise<RawQueue> {
    // Asked first: BullMQ's queue on Postgres remembers for ever that its first look at the database failed.
    await backend.ping()
    const queue = backend.openQueue(name)
    queue.on('error', onError)
    await queue.waitUntilReady()
    return queue
  }

  function open(name: QueueName): Promise<RawQueue> {
    const known = queues.get(name)
    if (known !== undefined) return known
    const opening = openQueue(name)
    opening.catch(() => queues.delete(name))
    queues.set(name, opening)
    return opening
  }

  async function addBatch(name: QueueName, jobs: StoredJob[]): Promise<void> {
    const queue = await open(name)
    if (jobs.length >= backend.bulkMin) return addBulk(queue, jobs)
    // One after the other: those of one call keep their order.
    for (const { name: jobName, data, opts } of jobs) await queue.add(jobName, data, opts)
  }

  return {
    add(name, jobs) {
      let adder = adders.get(name)
      if (adder === undefined) {
        adder = createCoalescer({ addBatch: (batch) => addBatch(name, batch), batchMax, unansweredMax })
        adders.set(name, adder)
      }
      return adder(jobs)
    },
    open,
    async close() {
      await Promise.all([...queues.values()].map(async (opening) => (await opening).close()))
    },
  }
}

/** Whoever adds the same ids in another order, as the relay may, waits for us as we do for it: one of the two adds again. */
async function addBulk(queue: RawQueue, jobs: StoredJob[]): Promise<void> {
  for (let deadlocks = 0; ; deadlocks++) {
    try {
      return void (await queue.addBulk(jobs))
    } catch (error) {
      if (deadlocks === deadlocksMax || !isDeadlock(error)) throw error
    }
  }
}

const isDeadlock = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === deadlockDetected
