import { setTimeout as delay } from 'node:timers/promises'
import { DelayedError } from 'bullmq'
import type { Backend, RawProcessor, RawWorker } from './backend.ts'
import type { JobData, QueueName } from './names.ts'
import { assertJobData } from './names.ts'
import { QueueError } from './queue-error.ts'
import { within } from './within.ts'

/** How a handler ends: the job is finished with, or it comes back after a delay. It costs no attempt either way. */
export type Handled = { done: true } | { again: { delayMs: number } }

export type JobRun = {
  jobId: string
  /** Aborted when a drain runs out of time. Losing the job's lock does not abort: the row's claim is what counts. */
  signal: AbortSignal
}

export type JobHandler<Q extends QueueName> = (data: JobData<Q>, run: JobRun) => Promise<Handled>

export type ConsumeOptions = {
  concurrency: number
  /** How long a job stays with a process that no longer renews; a killed process's jobs come back after at most twice that. */
  lockMs?: number
}

export type Consumer = {
  /** Takes no more jobs; resolves when the running ones have ended. */
  pause: () => Promise<void>
  resume: () => Promise<void>
  /** Takes no more, waits for the running ones, aborts their signal when the time is over, closes. Final. */
  drain: (options: { timeoutMs: number }) => Promise<Drained>
  running: () => number
}

/** `abandoned` handlers did not end even after the abort: their jobs come back once this process has ended. */
export type Drained = { abandoned: number }

export type ConsumeDeps = {
  backend: Backend
  answerMs: number
  onError: (error: Error) => void
}

const defaultLockMs = 30_000
// What a handler gets between the abort and being given up.
const abortGraceMs = 2_000
// Never reached: that a job came back must not be a reason to lose it. Postgres stores the count as an integer.
const stalledCountMax = 1_000_000
const retryFetchMs = 1_000

export async function consume<Q extends QueueName>(
  deps: ConsumeDeps,
  queue: Q,
  handler: JobHandler<Q>,
  options: ConsumeOptions,
): Promise<Consumer> {
  await within(deps.answerMs, `consuming ${queue}`, deps.backend.ping())
  // Not by job id: after a wipe the same id may run twice.
  const running = new Set<AbortController>()
  const lockMs = options.lockMs ?? defaultLockMs
  const worker = deps.backend.openWorker(queue, createProcessor(queue, handler, running), {
    autorun: false,
    concurrency: options.concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs,
    maxStalledCount: stalledCountMax,
    runRetryDelay: retryFetchMs,
  })
  worker.on('error', deps.onError)
  worker.on('failed', (job, error) => {
    deps.onError(new Error(`${queue}: the handler of job ${job?.id ?? 'unknown'} threw`, { cause: error }))
  })
  try {
    await within(deps.answerMs, `consuming ${queue}`, worker.waitUntilReady())
  } catch (error) {
    await within(deps.answerMs, `closing ${queue}`, worker.close(true)).catch(deps.onError)
    throw error
  }
  worker.run().catch(deps.onError)
  return createConsumer(worker, running)
}

function createProcessor<Q extends QueueName>(
  queue: Q,
  handler: JobHandler<Q>,
  running: Set<AbortController>,
): RawProcessor {
  return async (job, token) => {
    const data: unknown = job.data
    assertJobData(queue, data)
    const controller = new AbortController()
    running.add(controller)
    try {
      const handled = await handler(data, { jobId: job.id ?? '', signal: controller.signal })
      if ('done' in handled) return
      await job.moveToDelayed(Date.now() + handled.again.delayMs, token)
    } finally {
      running.delete(controller)
    }
    // How BullMQ learns that the job has been moved and must be neither completed nor failed.
    throw new DelayedError()
  }
}

function createConsumer(worker: RawWorker, running: Set<AbortController>): Consumer {
  let pausing: Promise<void> | undefined
  let draining: Promise<Drained> | undefined

  async function close(): Promise<void> {
    // A pause that ended after the close would connect BullMQ's blocking client anew, and nobody would close it.
    await pausing
    await worker.close()
  }

  async function drain(timeoutMs: number): Promise<Drained> {
    const closed = close()
    if (await endsWithin(closed, timeoutMs)) return { abandoned: 0 }
    for (const controller of running) {
      controller.abort(new QueueError('closed', 'The consumer is being drained'))
    }
    await endsWithin(closed, abortGraceMs)
    return { abandoned: running.size }
  }

  return {
    pause() {
      pausing ??= worker.pause()
      return pausing
    },
    async resume() {
      // BullMQ disconnects its blocking client while it pauses; resuming before that has ended would leave it so.
      await pausing
      pausing = undefined
      await worker.resume()
    },
    drain({ timeoutMs }) {
      draining ??= drain(timeoutMs)
      return draining
    },
    running: () => running.size,
  }
}

async function endsWithin(work: Promise<void>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController()
  try {
    return await Promise.race([work.then(() => true), delay(timeoutMs, false, { signal: timer.signal })])
  } finally {
    timer.abort()
  }
}
