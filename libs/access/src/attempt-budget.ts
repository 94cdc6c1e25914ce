import { AppError } from '@toolyard/contract/errors'
import { addressGroup } from './address-group.ts'
import { createMinuteBudget } from './minute-budget.ts'

const defaultAddressesMax = 10_000

export type AttemptBudget = {
  /** Counts one failed attempt of this address, or refuses it when the address has had its minute's worth. */
  spend(address: string): void
  /** Whether it has had its minute's worth; asking costs nothing. */
  isSpent(address: string): boolean
}

/**
 * Failed attempts per address (or IPv6 /64) in windows of a minute from the first. Only so many addresses are
 * remembered; an attacker with more of them than that forgets himself, and is then held by whatever bounds the work of
 * all together.
 */
export function createAttemptBudget(options: {
  perMinute: number
  monotonicMs: () => number
  addressesMax?: number
  /** What is refused, in words. */
  refusal?: string
}): AttemptBudget {
  const { perMinute, monotonicMs, refusal = 'Too many wrong keys came from this address' } = options
  const namesMax = options.addressesMax ?? defaultAddressesMax
  const budget = createMinuteBudget({ perMinute, monotonicMs, namesMax })
  return {
    isSpent: (address) => budget.isSpent(addressGroup(address)),
    spend(address) {
      const retryAfterSeconds = budget.spend(addressGroup(address))
      if (retryAfterSeconds !== undefined) throw new AppError('rate_limited', refusal, { retryAfterSeconds })
    },
  }
}
