import { Interruption } from './failure.ts'

/** What `work` gives, or an interruption as soon as `stop` says so; what still runs then ends with the process. */
export async function unlessStopped<T>(stop: AbortSignal, work: Promise<T>): Promise<T> {
  const stopped = Promise.withResolvers<never>()
  const reject = () => stopped.reject(new Interruption('It was broken off'))
  stop.addEventListener('abort', reject)
  if (stop.aborted) reject()
  try {
    return await Promise.race([work, stopped.promise])
  } finally {
    stop.removeEventListener('abort', reject)
    // The loser may still fail, when its ground is taken away.
    work.catch(() => {})
  }
}
