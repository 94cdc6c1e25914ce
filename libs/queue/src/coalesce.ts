import { QueueError } from './queue-error.ts'

export type CoalesceOptions<Item> = {
  /** Adds all of them, or throws. Called with one item or more, never with more than `batchMax`. */
  addBatch: (items: Item[]) => Promise<void>
  batchMax: number
  /** Items that may wait for the store's answer at once; more are refused at once, so that an outage cannot fill the memory. */
  unansweredMax: number
}

type Caller<Item> = { items: Item[]; resolve: () => void; reject: (error: unknown) => void }

/**
 * Joins what arrives in one turn of the event loop into one batch: on Postgres a commit each is what adding costs.
 * Callers are settled one by one; a batch that fails fails for everybody in it.
 */
export function createCoalescer<Item>(options: CoalesceOptions<Item>): (items: Item[]) => Promise<void> {
  let waiting: Caller<Item>[] = []
  let unanswered = 0

  async function send(callers: Caller<Item>[]): Promise<void> {
    try {
      await options.addBatch(callers.flatMap((caller) => caller.items))
    } finally {
      for (const caller of callers) unanswered -= caller.items.length
    }
  }

  function settle(callers: Caller<Item>[]): void {
    send(callers).then(
      () => callers.forEach((caller) => caller.resolve()),
      (error: unknown) => callers.forEach((caller) => caller.reject(error)),
    )
  }

  function flush(): void {
    const callers = waiting
    waiting = []
    for (const batch of splitCallers(callers, options.batchMax)) settle(batch)
  }

  return (items) =>
    new Promise((resolve, reject) => {
      if (items.length === 0) return resolve()
      if (items.length > options.batchMax) {
        return reject(new QueueError('refused', `At most ${options.batchMax} jobs can be added at once`))
      }
      if (unanswered + items.length > options.unansweredMax) {
        return reject(
          new QueueError('unreachable', `${unanswered} jobs already wait for the queue to answer`),
        )
      }
      unanswered += items.length
      waiting.push({ items, resolve, reject })
      // setImmediate and not a microtask: requests that were read in the same turn still come in before it.
      if (waiting.length === 1) setImmediate(flush)
    })
}

function splitCallers<Item>(callers: Caller<Item>[], batchMax: number): Caller<Item>[][] {
  const batches: Caller<Item>[][] = []
  let size = batchMax
  for (const caller of callers) {
    size += caller.items.length
    if (size > batchMax) {
      batches.push([])
      size = caller.items.length
    }
    batches.at(-1)?.push(caller)
  }
  return batches
}
