import type { TestContext } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { JobHandler } from '../consume.ts'
import type { QueueError } from '../queue-error.ts'
import type { Queues } from '../queues.ts'
import { createQueues } from '../queues.ts'

/** One place to keep queues in, empty when handed out, shared with no other test. */
export type Store = {
  databaseUrl: string
  redisUrl?: string
  redisPrefix: string
  /** Everything is gone, as after FLUSHALL. */
  wipe: () => Promise<void>
  /** Cuts the queue's connections on the server's side and says how many. */
  killConnections: () => Promise<number>
}

export type MakeStore = (t: TestContext) => Promise<Store>

type Limits = { poolMax?: number; answerMs?: number }

type Opened = { queues: Queues; errors: Error[] }

export function openQueues(t: TestContext, store: Store, limits: Limits = {}): Opened {
  const errors: Error[] = []
  const { wipe: _wipe, killConnections: _kill, ...where } = store
  const queues = createQueues({
    ...where,
    poolMax: 8,
    ...limits,
    applicationName: 'queue-test',
    onError: (error) => errors.push(error),
  })
  t.after(() => queues.close())
  return { queues, errors }
}

export const delivery = (id: string) => ({ id, data: { deliveryId: id } })

export const done = { done: true } as const

export const refused = (message: RegExp) => (error: QueueError) =>
  error.reason === 'refused' && message.test(error.message)

export const isClosed = (error: QueueError) => error.reason === 'closed'

/** A handler that notes what it was given. */
export function collector(): { handled: string[]; handler: JobHandler<'deliveries'> } {
  const handled: string[] = []
  return {
    handled,
    async handler(data) {
      handled.push(data.deliveryId)
      return done
    },
  }
}

/** A handler whose jobs run until they are let go. */
export function gate(): { started: string[]; open: () => void; handler: JobHandler<'deliveries'> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const started: string[] = []
  return {
    started,
    open: () => resolve(),
    async handler(data) {
      started.push(data.deliveryId)
      await promise
      return done
    },
  }
}

export const isEmpty = async (queues: Queues) => {
  const counts = await queues.counts('deliveries')
  return counts.waiting + counts.active + counts.delayed === 0
}

/** Adds as callers do whose store was just cut off: again, until it is taken. */
export const addAtLast = (queues: Queues, id: string) =>
  waitUntil('adding to work again', () =>
    queues.enqueue('deliveries', [delivery(id)]).then(
      () => true,
      () => false,
    ),
  )
