/** One who waits, and many who may wake it; a ring while nobody waits is kept for the next wait. */
export type Bell = {
  ring: () => void
  /** Until it rings, at most so long. */
  wait: (timeoutMs: number) => Promise<void>
  /** So long, whatever rings. */
  rest: (durationMs: number) => Promise<void>
}

/** After the signal nothing waits any more, and no timer is left. */
export function createBell(signal: AbortSignal): Bell {
  let isRung = false
  let wake: (() => void) | undefined

  const pause = (durationMs: number, takeWaker: (waker: () => void) => void) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) {
        resolve()
        return
      }
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, durationMs)
      signal.addEventListener('abort', end)
      takeWaker(end)
    })
  return {
    ring: () => {
      isRung = true
      wake?.()
    },
    wait: async (timeoutMs) => {
      if (!isRung) await pause(timeoutMs, (waker) => (wake = waker))
      wake = undefined
      isRung = false
    },
    rest: (durationMs) => pause(durationMs, () => undefined),
  }
}
