import { AppError } from '@toolyard/contract/errors'
import { LRUCache } from 'lru-cache'
import { addressGroup } from './address-group.ts'

const windowMs = 60_000
const defaultAddressesMax = 10_000

export type AttemptBudget = {
  /** Counts one failed attempt of this address, or refuses it when the address has had its minute's worth. */
  spend(address: string): void
  /** Whether it has had its minute's worth; asking costs nothing. */
  isSpent(address: string): boolean
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
  const currentWindow = (group: string, nowMs: number) => {
    const window = windows.get(group)
    return window === undefined || nowMs - window.beganAtMs >= windowMs ? undefined : window
  }
  return {
    isSpent(address) {
      const window = currentWindow(addressGroup(address), options.monotonicMs())
      return window !== undefined && window.count >= options.perMinute
    },
    spend(address) {
      const group = addressGroup(address)
      const nowMs = options.monotonicMs()
      const window = currentWindow(group, nowMs)
      if (window === undefined) {
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
