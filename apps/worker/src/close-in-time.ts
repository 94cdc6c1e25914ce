import { once } from 'node:events'

/**
 * Whether `close` came to its end before `signal` was aborted. An engine that has much to do takes seconds for each
 * container, and the process must not end late for it: what is left dies with the process, and others sweep it.
 */
export async function closeInTime(close: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
  const isOver = signal.aborted ? Promise.resolve() : once(signal, 'abort')
  return Promise.race([close().then(() => true), isOver.then(() => false)])
}
