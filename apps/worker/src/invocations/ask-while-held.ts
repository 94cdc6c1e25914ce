import { isUnavailable } from '@toolyard/db/is-unavailable'
import { awaitOpening } from '@toolyard/service/await-opening'

/**
 * Asks the database until it answers: an attempt that is held outlasts one that is away for a moment. An aborted signal
 * ends the wait, also for an answer that never comes.
 */
export async function askWhileHeld<T>(
  ask: () => Promise<T>,
  { signal, onFailure }: { signal: AbortSignal; onFailure: (error: unknown) => void },
): Promise<{ kind: 'answered'; answer: T } | { kind: 'stopped' }> {
  const stopped = Promise.withResolvers<{ kind: 'stopped' }>()
  const stop = () => stopped.resolve({ kind: 'stopped' })
  signal.addEventListener('abort', stop, { once: true })
  const answered = awaitOpening(ask, { signal, isFinal: (error) => !isUnavailable(error), onFailure }).then(
    (answer) => ({ kind: 'answered' as const, answer }),
  )
  try {
    return await Promise.race([answered, stopped.promise])
  } catch (error) {
    if (signal.aborted) return { kind: 'stopped' }
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    // The loser may still fail later, when nobody waits for it any more.
    answered.catch(() => {})
  }
}
