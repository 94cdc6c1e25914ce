const quietMs = 1_000
const messagesMax = 1_000

/**
 * One broken connection is told by the pool and again by every queue and consumer on it, and told anew at each attempt:
 * so the same message is passed on once a second.
 */
export function createReporter(
  onError: (error: Error) => void,
  now: () => number = () => performance.now(),
): (error: Error) => void {
  const lastTold = new Map<string, number>()
  return (error) => {
    const told = lastTold.get(error.message)
    if (told !== undefined && now() - told < quietMs) return
    // Messages may name jobs, so there is no end of them.
    if (lastTold.size >= messagesMax) lastTold.clear()
    lastTold.set(error.message, now())
    onError(error)
  }
}
