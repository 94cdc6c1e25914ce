import { setTimeout as delay } from 'node:timers/promises'

const retryMs = 1_000

export type OpeningOptions = {
  signal: AbortSignal
  /** Whether waiting mends nothing. */
  isFinal: (error: unknown) => boolean
  /** Called when it fails for the first time. */
  onFailure: (error: unknown) => void
}

/** Resolves when `open` does. What is away is waited for; a final fault is thrown at once. */
export async function awaitOpening<T>(
  open: () => Promise<T>,
  { signal, isFinal, onFailure }: OpeningOptions,
): Promise<T> {
  let isFailing = false
  for (;;) {
    signal.throwIfAborted()
    try {
      return await open()
    } catch (error) {
      if (isFinal(error)) throw error
      if (!isFailing) onFailure(error)
      isFailing = true
    }
    await delay(retryMs, undefined, { signal })
  }
}
