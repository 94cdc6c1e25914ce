import { AppError } from '@toolyard/contract/errors'
import { LRUCache } from 'lru-cache'
import { addressGroup } from './address-group.ts'

const windowMs = 60_000
const defaultAddressesMax = 10_000

export type AttemptBudget = {
  /** Counts one failed attempt of this address, or refuses it when the address has had its minute's worth. */
  spend(address: string): void
}

/**
 * Failed attempts per address (or IPv6 /64) in windows of a minute from the first. Only so many addresses are
 * remembered; an attacker with more of them than that forgets himself, and is then held by the hash slots alone.
 */
export function createAttemptBudget(options: {
  perMinute: number
  monotonicMs: () => number
  addressesMax?: number
}): AttemptBudget {
  const windows = new LRUCache<string, { beganAtMs: number; count: number }>({
    max: options.addressesMax ?? defaultAddressesMax,
  })
  return {
    spend(address) {
      const group = addressGroup(address)
      const nowMs = options.monotonicMs()
      const window = windows.get(group)
      if (window === undefined || nowMs - window.beganAtMs >= windowMs) {
        windows.set(group, { beganAtMs: nowMs, count: 1 })
        return
      }
      if (window.count >= options.perMinute) {
        const retryAfterSeconds = Math.ceil((window.beganAtMs + windowMs - nowMs) / 1_000)
        throw new AppError('rate_limited', 'Too many wrong keys came from this address', {
          retryAfterSeconds,
        })
      }
      window.count += 1
    },
  }
}
