/** So many of one asker wait; whoever comes then is refused, for it would wait too long. */
const waitingOfOneMax = 4
const waitingMax = 256

type Waiting = () => void

/**
 * So many works at once, and askers one after the other: who asks a hundred times keeps others waiting no longer than who asks
 * once.
 */
export function createTurns(atOnceMax: number) {
  const waiting = new Map<string, Waiting[]>()
  let runningCount = 0
  let waitingCount = 0

  const next = (): void => {
    const [first] = waiting
    if (first === undefined || runningCount >= atOnceMax) return
    const [asker, [begin, ...rest]] = first
    // Whoever had a turn stands last.
    waiting.delete(asker)
    if (rest.length > 0) waiting.set(asker, rest)
    waitingCount -= 1
    begin?.()
  }

  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    runningCount += 1
    try {
      return await work()
    } finally {
      runningCount -= 1
      next()
    }
  }

  return {
    /** Null: too many wait already. */
    take<T>(asker: string, work: () => Promise<T>): Promise<T> | null {
      if (runningCount < atOnceMax) return run(work)
      const own = waiting.get(asker) ?? []
      if (own.length >= waitingOfOneMax || waitingCount >= waitingMax) return null
      waitingCount += 1
      const turn = Promise.withResolvers<T>()
      waiting.set(asker, [...own, () => void run(work).then(turn.resolve, turn.reject)])
      return turn.promise
    },
  }
}
