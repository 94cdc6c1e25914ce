import type { Consumer } from '@toolyard/queue/consume'
import type { Part, Parts } from '@toolyard/service/part'
import { repeat } from '@toolyard/service/repeat'
import type { Vault } from '@toolyard/vault/open-vault'
import type { DelivererDeps } from '@toolyard/webhooks/create-deliverer'
import { createDeliverer } from '@toolyard/webhooks/create-deliverer'
import { createSender } from '@toolyard/webhooks/create-sender'
import { guardRulesOf } from '@toolyard/webhooks/guard-rules'
import { deliveriesMax, handleDeliveryJobs } from '@toolyard/webhooks/handle-delivery-jobs'
import type { WorkerContext } from '../start-worker.ts'

export type DeliveryService = {
  parts: () => Parts
  /** Takes nothing new; what is under way is waited for, and at the end of the time cut off: it is tried again. */
  drain: (signal: AbortSignal) => Promise<void>
}

const tendEveryMs = 1_000
const retryMs = 1_000

/** Sends messages to webhooks and callbacks. */
export function serveDeliveries(
  { config, log, metrics, queues }: Pick<WorkerContext, 'config' | 'log' | 'metrics' | 'queues'>,
  {
    vault,
    sender = createSender({ rules: guardRulesOf(config) }),
  }: { vault: Promise<Vault>; sender?: DelivererDeps['sender'] },
): DeliveryService {
  const tries = metrics.counter('delivery_tries_total', 'Tries of messages by what came of them', ['outcome'])
  let consumer: Consumer | undefined
  let isEnding = false
  const tend = async () => {
    if (consumer !== undefined) return
    const onTried = (outcome: string) => tries.add({ outcome })
    const deliver = createDeliverer({ vault: await vault, queues, sender, log, onTried })
    const handle = handleDeliveryJobs({ deliver, queues, isEnding: () => isEnding })
    consumer = await queues.consume('deliveries', handle, { concurrency: deliveriesMax })
  }
  const tending = repeat({
    everyMs: tendEveryMs,
    retryMs,
    work: tend,
    onFailure: (error) => log.warn('the queue of deliveries cannot be consumed', { error }),
  })
  const part = (): Part =>
    consumer === undefined
      ? { state: 'starting', detail: 'the queue is not consumed yet' }
      : { state: 'ready', detail: `${consumer.running()} under way` }
  return {
    parts: () => ({ deliveries: part() }),
    async drain(signal) {
      isEnding = true
      await tending.stop()
      await consumer?.drain({ timeoutMs: signal.aborted ? 0 : config.drainSeconds * 1_000 })
    },
  }
}
