import type { BackendFactory, RedisQueueBackend } from 'bullmq'

/**
 * A consumer that is ended while its blocking connection pauses between two attempts to reach Redis would wait for ever:
 * BullMQ waits for the client's end, and ioredis tells of none in that state. Here the end comes with the next attempt,
 * which is not far.
 */
export function withEndWhileReconnecting<B extends RedisQueueBackend, C>(
  factory: BackendFactory<B, C>,
): BackendFactory<B, C> {
  return (...given) => {
    const backend = factory(...given)
    const disconnect = backend.disconnectBlocking.bind(backend)
    backend.disconnectBlocking = async (wait) => {
      const client = await backend.blockingClient
      if (client?.status === 'reconnecting')
        await new Promise<void>((resolve) => client.once('connecting', () => resolve()))
      await disconnect(wait)
    }
    return backend
  }
}
