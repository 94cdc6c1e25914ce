import { QueueError } from './queue-error.ts'

/**
 * The answer of the backend, or a refusal once `timeoutMs` have gone by. Both backends can leave a call unanswered for
 * ever: Redis while it is unreachable, Postgres when the call meets a connection that closes.
 */
export async function within<T>(timeoutMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new QueueError('unreachable', `The queue did not answer within ${timeoutMs} ms: ${what}`))
    }, timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
