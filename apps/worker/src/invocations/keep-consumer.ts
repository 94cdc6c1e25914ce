import type { Consumer, JobHandler } from '@toolyard/queue/consume'
import type { Queues } from '@toolyard/queue/queues'
import type { Part } from '@toolyard/service/part'
import { repeat } from '@toolyard/service/repeat'
import { watchConsumer } from './watch-consumer.ts'

export type ConsumerKeeper = {
  part(): Part
  /** Takes no more; resolves when what runs has ended, or with how many have not when the time is over. */
  drain(timeoutMs: number): Promise<{ abandoned: number }>
}

export type ConsumerKeeperOptions = {
  queues: Pick<Queues, 'consume' | 'counts'>
  handler: JobHandler<'invocations'>
  slots: number
  hasEngine: () => boolean
  onFailure: (error: unknown) => void
}

const tendEveryMs = 500
const retryMs = 1_000

/**
 * Takes jobs while this worker has an engine to run them on; without one they are left to others. A consumer that is
 * paused cannot go on before all that it runs has ended, which may be long: so each time of having an engine has its
 * own, and the one before ends when it can.
 */
export function keepConsumer({
  queues,
  handler,
  slots,
  hasEngine,
  onFailure,
}: ConsumerKeeperOptions): ConsumerKeeper {
  let consumer: Consumer | undefined
  const leaving = new Set<Consumer>()
  const isFree = () => consumer !== undefined && consumer.running() < slots
  const watch = watchConsumer({ counts: () => queues.counts('invocations'), isFree, onFailure })
  const noting: typeof handler = (data, run) => {
    watch.noteTaken()
    return handler(data, run)
  }

  async function tend(): Promise<void> {
    if (hasEngine()) consumer ??= await queues.consume('invocations', noting, { concurrency: slots })
    else if (consumer !== undefined) {
      const leaver = consumer
      consumer = undefined
      // Not waited for: it takes no more from here on, and what it runs may go on.
      leave(leaver).catch(onFailure)
    }
  }

  async function leave(leaver: Consumer): Promise<void> {
    leaving.add(leaver)
    await leaver.pause()
    await leaver.drain({ timeoutMs: 0 })
    leaving.delete(leaver)
  }

  const tending = repeat({ everyMs: tendEveryMs, retryMs, work: tend, onFailure })
  return {
    part() {
      if (consumer !== undefined) return watch.part()
      return hasEngine()
        ? { state: 'starting', detail: 'the queue is not consumed yet' }
        : { state: 'off', detail: 'no invocation is taken without an engine' }
    },
    async drain(timeoutMs) {
      // What is just being opened is to be closed.
      await Promise.all([tending.stop(), watch.stop()])
      const all = consumer === undefined ? [...leaving] : [...leaving, consumer]
      const drained = await Promise.all(all.map((one) => one.drain({ timeoutMs })))
      return { abandoned: drained.reduce((sum, { abandoned }) => sum + abandoned, 0) }
    },
  }
}
