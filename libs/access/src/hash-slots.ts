import { AppError } from '@toolyard/contract/errors'

export type HashSlots = {
  /** Runs `work` if a slot is free at this moment, else refuses. */
  runNow<T>(work: () => Promise<T>): Promise<T>
  /** Runs `work` in the next free slot, if not too many wait for one already. */
  runSoon<T>(work: () => Promise<T>): Promise<T>
}

/** Bounds how much of the machine hashing takes: at most `running` at a time, at most `waiting` behind them. */
export function createHashSlots(limits: { running: number; waiting: number }): HashSlots {
  let runningCount = 0
  const waiting: (() => void)[] = []

  async function run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      // The slot passes from hand to hand, so that a newcomer cannot slip in before those that wait.
      if (next === undefined) runningCount -= 1
      else next()
    }
  }

  function takeFreeSlot(): boolean {
    if (runningCount >= limits.running) return false
    runningCount += 1
    return true
  }

  return {
    async runNow(work) {
      if (!takeFreeSlot()) throw busy()
      return run(work)
    },
    async runSoon(work) {
      if (!takeFreeSlot()) {
        if (waiting.length >= limits.waiting) throw busy()
        const turn = Promise.withResolvers<void>()
        waiting.push(turn.resolve)
        await turn.promise
      }
      return run(work)
    },
  }
}

function busy(): AppError {
  return new AppError('rate_limited', 'Too many keys are being verified at this moment', {
    retryAfterSeconds: 1,
  })
}
