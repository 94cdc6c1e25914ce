import type { Queue } from 'bullmq'
import type { Alarm, SetAlarm } from './alarms.ts'
import { listAlarms, removeAlarm, setAlarm } from './alarms.ts'
import type { Backend, RawQueue } from './backend.ts'
import type { ConsumeOptions, Consumer, JobHandler } from './consume.ts'
import { consume } from './consume.ts'
import type { QueueName } from './names.ts'
import { assertQueueName } from './names.ts'
import { connectPostgres } from './postgres.ts'
import type { Producers } from './producers.ts'
import { createProducers } from './producers.ts'
import { QueueError } from './queue-error.ts'
import { connectRedis } from './redis.ts'
import { createReporter } from './create-reporter.ts'
import type { NewJob } from './stored-job.ts'
import { storedJobs } from './stored-job.ts'
import { within } from './within.ts'

export type Counts = { waiting: number; active: number; delayed: number }

export type Queues = {
  backend: 'redis' | 'postgres'
  /** All of the jobs are stored when it resolves. After a rejection some may be: adding them again is a no-op. */
  enqueue: <Q extends QueueName>(queue: Q, jobs: NewJob<Q>[]) => Promise<void>
  consume: <Q extends QueueName>(
    queue: Q,
    handler: JobHandler<Q>,
    options: ConsumeOptions,
  ) => Promise<Consumer>
  counts: (queue: QueueName) => Promise<Counts>
  /** Replaces the alarm of that id, if there is one. Each time it goes off it adds a job with `data`. */
  setAlarm: <Q extends QueueName>(queue: Q, alarm: SetAlarm<Q>) => Promise<void>
  removeAlarm: (queue: QueueName, id: string) => Promise<void>
  listAlarms: (queue: QueueName) => Promise<Alarm[]>
  ping: () => Promise<void>
  /** For Bull Board alone: BullMQ's own objects, which nothing else may touch. */
  boardQueues: (queues: QueueName[]) => Promise<Queue[]>
  /** Drains consumers that were left open, then closes; every later call is refused. */
  close: () => Promise<void>
}

export type QueuesOptions = {
  /** Used when there is no `redisUrl`; see `prepareQueueSchema`. */
  databaseUrl: string
  redisUrl?: string | undefined
  /** Connections to Postgres of this process for the queue: its consumers + 2 at least. */
  poolMax: number
  applicationName: string
  /** Called for what no caller sees: broken connections, handlers that threw, lost locks. */
  onError: (error: Error) => void
  /** Before every Redis key, so that installations can share a server. */
  redisPrefix: string
  /** How long a call waits for the store before it is rejected. */
  answerMs?: number
}

const answerDefaultMs = 5_000
const drainAtCloseMs = 5_000

/** The queues of one process. Returns at once; every call says by itself whether the store answered. */
export function createQueues(options: QueuesOptions): Queues {
  const onError = createReporter(options.onError)
  const answerMs = options.answerMs ?? answerDefaultMs
  const backend = connect({ ...options, onError })
  const producers = createProducers(backend, onError)
  const consumers: Promise<Consumer>[] = []
  const unanswered = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  function assertUsable(queue: QueueName): void {
    if (closing !== undefined) throw closedError()
    assertQueueName(queue)
  }

  async function ask<T>(
    queue: QueueName,
    what: string,
    question: (producers: Producers) => Promise<T>,
  ): Promise<T> {
    assertUsable(queue)
    const answer = within(answerMs, `${what} ${queue}`, question(producers))
    unanswered.add(answer)
    return answer.finally(() => unanswered.delete(answer))
  }

  async function closeAll(): Promise<void> {
    // BullMQ never answers a call that its closing overtakes.
    await Promise.allSettled(unanswered)
    for (const opening of consumers) {
      // One that could not be opened has told its caller, and there is nothing to drain.
      const consumer = await opening.catch(() => undefined)
      await consumer?.drain({ timeoutMs: drainAtCloseMs })
    }
    // A store that is down must not keep the process from ending.
    await within(answerMs, 'closing', producers.close()).catch(onError)
    await within(answerMs, 'closing', backend.close()).catch(onError)
  }

  return {
    backend: backend.kind,
    enqueue: (queue, jobs) => ask(queue, 'adding to', async ({ add }) => add(queue, storedJobs(queue, jobs))),
    async consume(queue, handler, consumeOptions) {
      assertUsable(queue)
      const opening = consume({ backend, answerMs, onError }, queue, handler, consumeOptions)
      consumers.push(opening)
      return opening
    },
    counts: (queue) => ask(queue, 'counting', async ({ open }) => countJobs(await open(queue))),
    setAlarm: (queue, alarm) =>
      ask(queue, 'setting an alarm on', async ({ open }) => setAlarm(await open(queue), queue, alarm)),
    removeAlarm: (queue, id) =>
      ask(queue, 'removing an alarm from', async ({ open }) => removeAlarm(await open(queue), id)),
    listAlarms: (queue) => ask(queue, 'listing alarms of', async ({ open }) => listAlarms(await open(queue))),
    async ping() {
      if (closing !== undefined) throw closedError()
      await within(answerMs, 'ping', backend.ping())
    },
    // safe because Bull Board calls only what BullMQ's queues have on either backend
    boardQueues: (queues) =>
      Promise.all(
        queues.map((queue) => ask(queue, 'showing', async ({ open }) => (await open(queue)) as Queue)),
      ),
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

function connect(options: QueuesOptions): Backend {
  const { databaseUrl, redisUrl, redisPrefix, poolMax, applicationName, onError } = options
  if (redisUrl === undefined) return connectPostgres({ databaseUrl, poolMax, applicationName, onError })
  return connectRedis({ redisUrl, prefix: redisPrefix, applicationName, onError })
}

async function countJobs(queue: RawQueue): Promise<Counts> {
  // A job with a priority waits in a list of its own; to us it waits like any other.
  const counts = await queue.getJobCounts('wait', 'prioritized', 'active', 'delayed')
  const waiting = (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0)
  return { waiting, active: counts['active'] ?? 0, delayed: counts['delayed'] ?? 0 }
}

const closedError = () => new QueueError('closed', 'The queues of this process are closed')
