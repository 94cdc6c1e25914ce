import { AppError } from '@toolyard/contract/errors'

export type StreamSlots = {
  /** Throws `rate_limited` when there are too many. Returns how to give it back, which may be said twice. */
  take: (keyId: string) => () => void
  count: () => number
}

export type SlotLimits = {
  perProcess: number
  perKey: number
  /** What there may be so many of, as in "invocations that are followed". */
  what: string
}

const retryAfterSeconds = 5

export function createStreamSlots({ perProcess, perKey, what }: SlotLimits): StreamSlots {
  const byKey = new Map<string, number>()
  let count = 0
  return {
    take(keyId) {
      const ofKey = byKey.get(keyId) ?? 0
      if (ofKey >= perKey)
        throw new AppError('rate_limited', `A key may have ${perKey} ${what} at a time`, {
          retryAfterSeconds,
        })
      if (count >= perProcess)
        throw new AppError('rate_limited', `There are too many ${what}`, { retryAfterSeconds })
      byKey.set(keyId, ofKey + 1)
      count += 1
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        count -= 1
        const left = (byKey.get(keyId) ?? 1) - 1
        if (left === 0) byKey.delete(keyId)
        else byKey.set(keyId, left)
      }
    },
    count: () => count,
  }
}
