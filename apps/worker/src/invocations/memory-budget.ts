import { totalmem } from 'node:os'

/** Memory for running tools, given in the order in which it was asked for. */
export type MemoryBudget = {
  /** An aborted signal ends the wait. */
  take(bytes: number, signal: AbortSignal): Promise<Room>
  usage(): { totalBytes: number; takenBytes: number; waiting: number }
}

export type Room =
  | { kind: 'granted'; release: () => void }
  | { kind: 'stopped' }
  /** More than there will ever be. */
  | { kind: 'too_large'; totalBytes: number }

type Waiter = { bytes: number; grant: () => void }

/**
 * Whoever waits longest goes first, also when a smaller one behind it would fit: else a large tool would wait for as
 * long as small ones come.
 */
export function createMemoryBudget(totalBytes: number): MemoryBudget {
  const waiters: Waiter[] = []
  let takenBytes = 0

  function grantNext(): void {
    for (;;) {
      const [first] = waiters
      if (first === undefined || takenBytes + first.bytes > totalBytes) return
      waiters.shift()
      takenBytes += first.bytes
      first.grant()
    }
  }

  function granted(bytes: number): Room {
    let isReleased = false
    return {
      kind: 'granted',
      release() {
        if (isReleased) return
        isReleased = true
        takenBytes -= bytes
        grantNext()
      },
    }
  }

  return {
    async take(bytes, signal) {
      if (bytes > totalBytes) return { kind: 'too_large', totalBytes }
      if (signal.aborted) return { kind: 'stopped' }
      const asked = Promise.withResolvers<Room>()
      const waiter = { bytes, grant: () => asked.resolve(granted(bytes)) }
      const leave = () => {
        const place = waiters.indexOf(waiter)
        if (place < 0) return
        waiters.splice(place, 1)
        asked.resolve({ kind: 'stopped' })
        // The next may fit where this one did not.
        grantNext()
      }
      waiters.push(waiter)
      grantNext()
      signal.addEventListener('abort', leave, { once: true })
      try {
        return await asked.promise
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
    usage: () => ({ totalBytes, takenBytes, waiting: waiters.length }),
  }
}

const share = 0.6

/** Of the machine, or of the limit that this process lives under where that is smaller. */
export function memoryForTools(
  machineBytes: number = totalmem(),
  limitBytes: number = process.constrainedMemory(),
): number {
  // No limit is told as none, as nothing, or as more than there is.
  const bytes = limitBytes > 0 ? Math.min(machineBytes, limitBytes) : machineBytes
  return Math.floor(bytes * share)
}
