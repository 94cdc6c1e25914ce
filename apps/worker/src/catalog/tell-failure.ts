import type { WithinFailure } from '@toolyard/catalog/finish-build'
import type { Logger } from '@toolyard/log/logger'
import type { Queues } from '@toolyard/queue/queues'
import type { NewJob } from '@toolyard/queue/stored-job'
import { writeEvent } from '@toolyard/webhooks/write-event'

/** Tells whoever asked for it that an image could not be built. What is not sent after the commit, the relay sends. */
export function tellFailure(
  queues: Pick<Queues, 'enqueue'>,
  log: Logger,
): { within: WithinFailure; send: () => Promise<void> } {
  let jobs: NewJob<'deliveries'>[] = []
  return {
    async within(sql, { tool, hash, error }) {
      const data = { image_hash: hash, error }
      jobs = await writeEvent(sql, { event: 'tool.image_failed', tool, topic: null, data })
    },
    async send() {
      if (jobs.length === 0) return
      await queues
        .enqueue('deliveries', jobs)
        .catch((cause: unknown) => log.warn('messages wait for the relay', { error: cause }))
    },
  }
}
