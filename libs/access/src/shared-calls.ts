import { AppError } from '@toolyard/contract/errors'

export type SharedCalls<T> = { share(name: string, work: () => Promise<T>): Promise<T> }

/** Callers that want the same thing at the same time share one call for it; at most `max` different ones run. */
export function createSharedCalls<T>(max: number): SharedCalls<T> {
  const running = new Map<string, Promise<T>>()
  return {
    async share(name, work) {
      const already = running.get(name)
      if (already !== undefined) return already
      if (running.size >= max) {
        throw new AppError('rate_limited', 'Too many keys are being looked up at this moment', {
          retryAfterSeconds: 1,
        })
      }
      const call = work().finally(() => running.delete(name))
      running.set(name, call)
      return call
    },
  }
}
