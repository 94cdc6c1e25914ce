import { LRUCache } from 'lru-cache'

const windowMs = 60_000

export type MinuteBudget = {
  /** Counts one for this name. Where it has had its minute's worth: in how many seconds there is more. */
  spend(name: string): number | undefined
  /** Whether it has had its minute's worth; asking costs nothing. */
  isSpent(name: string): boolean
}

/** So many in a minute for each name, in windows of a minute from the first. Only so many names are remembered. */
export function createMinuteBudget(options: {
  perMinute: number
  monotonicMs: () => number
  namesMax: number
}): MinuteBudget {
  const windows = new LRUCache<string, { beganAtMs: number; count: number }>({ max: options.namesMax })
  const currentWindow = (name: string, nowMs: number) => {
    const window = windows.get(name)
    return window === undefined || nowMs - window.beganAtMs >= windowMs ? undefined : window
  }
  return {
    isSpent(name) {
      const window = currentWindow(name, options.monotonicMs())
      return window !== undefined && window.count >= options.perMinute
    },
    spend(name) {
      const nowMs = options.monotonicMs()
      const window = currentWindow(name, nowMs)
      if (window === undefined) {
        windows.set(name, { beganAtMs: nowMs, count: 1 })
        return undefined
      }
      if (window.count >= options.perMinute) return Math.ceil((window.beganAtMs + windowMs - nowMs) / 1_000)
      window.count += 1
      return undefined
    },
  }
}
