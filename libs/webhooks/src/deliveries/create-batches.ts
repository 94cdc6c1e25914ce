import { isUnavailable } from '@toolyard/db/is-unavailable'
import type { Pool } from '@toolyard/db/pool'
import { createFlights } from '@toolyard/invocations/flights'
import type { Queues } from '@toolyard/queue/queues'
import type { NewJob } from '@toolyard/queue/stored-job'
import type { Beginning, Begun } from './begin-tries.ts'
import { beginTries } from './begin-tries.ts'
import { callNext } from './call-next.ts'
import type { EndedTry } from './end-tries.ts'
import { endTries } from './end-tries.ts'
import type { NotYet } from './judge-look.ts'
import type { Look } from './look.ts'
import { lookOrPark } from './look-or-park.ts'
import { readBodies } from './read-bodies.ts'

type Ended = { id: string; receiver: string; token: string }

export type Batches<T> = {
  look: (id: string) => Promise<Look | NotYet>
  /** Null: what it tells of is there no more. */
  body: (look: Look) => Promise<Buffer | null>
  begin: (item: Beginning<T> & { receiver: string }) => Promise<Begun<T>>
  /** False: it was taken for lost before. */
  end: (tried: EndedTry & { receiver: string }) => Promise<boolean>
  /** Who may take the place of this try: the first one to the same receiver, while the others come to the queue. */
  call: (ended: Ended) => Promise<NewJob<'deliveries'> | null>
}

// One at a time of each kind, so that the batches are large. Only the end may have to wait for whoever writes a webhook.
const limits = { flightsMax: 1, itemsMax: 64 }

/**
 * What the deliveries of one process ask the database at the same time it is asked once. A try alone needs ten
 * statements, and each costs more on its way than in the database; and so many deliveries never take the connections
 * that others of the process need.
 */
export function createBatches<T>(pool: Pool, queues: Pick<Queues, 'enqueue'>): Batches<T> {
  const all = { ...limits, isItemFault: () => false }
  return {
    look: createFlights<string, Look | NotYet>({
      ...all,
      laneOf: (id) => id,
      send: (ids) => lookOrPark(pool, ids),
    }),
    body: createFlights<Look, Buffer | null>({
      ...all,
      laneOf: ({ id }) => id,
      send: (looks) => readBodies(pool, looks),
    }),
    begin: createFlights<Beginning<T> & { receiver: string }, Begun<T>>({
      ...all,
      laneOf: ({ receiver }) => receiver,
      send: (items) => beginTries(pool, items),
    }),
    end: createFlights<EndedTry & { receiver: string }, boolean>({
      ...limits,
      flightsMax: 2,
      // What is refused may be the answer of one: the others are written without it. Whose end is there is fenced.
      isItemFault: (error) => !isUnavailable(error),
      laneOf: ({ receiver }) => receiver,
      async send(tries) {
        const ours = await endTries(pool, tries)
        return tries.map(({ id }) => ours.has(id))
      },
    }),
    call: createFlights<Ended, NewJob<'deliveries'> | null>({
      ...all,
      laneOf: ({ receiver }) => receiver,
      async send(ended) {
        const [first] = ended
        if (first === undefined) return []
        const called = await callNext(pool, { ids: ended.map(({ id }) => id), token: first.token })
        const byReceiver = Map.groupBy(called, ({ receiver }) => receiver)
        const nexts = ended.map(({ receiver }) => byReceiver.get(receiver)?.shift()?.job ?? null)
        const others = [...byReceiver.values()].flat().map(({ job }) => job)
        if (others.length > 0) await queues.enqueue('deliveries', others)
        return nexts
      },
    }),
  }
}
