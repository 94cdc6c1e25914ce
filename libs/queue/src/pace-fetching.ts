import { setTimeout as delay } from 'node:timers/promises'
import type { BackendFactory, IQueueBackend } from 'bullmq'

const retryMs = 200

/**
 * A consumer that fails to fetch a job asks again at once, for as long as the store answers with an error (starting up,
 * too many connections, disk full): 260 errors a second and half a core, measured. Here it draws breath in between.
 */
export function withPacedFetching<B extends IQueueBackend, C>(
  factory: BackendFactory<B, C>,
): BackendFactory<B, C> {
  return (...given) => {
    const backend = factory(...given)
    const fetchJob = backend.moveToActive.bind(backend)
    backend.moveToActive = (token, name) =>
      fetchJob(token, name).catch(async (error: unknown) => {
        await delay(retryMs)
        throw error
      })
    return backend
  }
}
