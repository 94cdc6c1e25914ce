import type { Counts } from '@toolyard/queue/queues'
import type { Part } from '@toolyard/service/part'
import { readyPart } from '@toolyard/service/part'
import type { Repeated } from '@toolyard/service/repeat'
import { repeat } from '@toolyard/service/repeat'

export type ConsumerWatch = Pick<Repeated, 'stop'> & {
  /** Called for each job that this worker is given. */
  noteTaken(): void
  part(): Part
}

export type ConsumerWatchOptions = {
  counts: () => Promise<Counts>
  /** Whether it takes jobs now, and has a slot for one. */
  isFree: () => boolean
  onFailure: (error: unknown) => void
  everyMs?: number
}

const everyDefaultMs = 5_000
// One look may fall between a job's coming and its going.
const deafAfterLooks = 3

/** A consumer with a free slot that is given nothing while jobs wait does not work, and nobody else would tell. */
export function watchConsumer({ counts, isFree, onFailure, everyMs }: ConsumerWatchOptions): ConsumerWatch {
  let isQuiet = true
  let quietLooks = 0
  const looking = repeat({
    everyMs: everyMs ?? everyDefaultMs,
    async work() {
      const isDeaf = isQuiet && isFree() && (await counts()).waiting > 0
      // Both may have changed while the queue was asked.
      quietLooks = isDeaf && isQuiet && isFree() ? quietLooks + 1 : 0
      isQuiet = true
    },
    onFailure,
  })
  return {
    noteTaken() {
      isQuiet = false
      quietLooks = 0
    },
    part: () =>
      quietLooks >= deafAfterLooks
        ? { state: 'unfit', detail: 'jobs wait in the queue, and this worker with free slots is given none' }
        : readyPart,
    stop: () => looking.stop(),
  }
}
