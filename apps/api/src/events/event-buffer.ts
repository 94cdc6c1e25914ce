export type EventBuffer = {
  body: ReadableStream<Uint8Array>
  /** For what must arrive. Whoever adds sees to it that it is not much. */
  add: (frame: string) => void
  /** For what may be missing: false, and not added, when the reader is that far behind. */
  offer: (frame: string) => boolean
  /** The body ends after what is waiting. */
  end: () => void
  /** Nobody reads it any more. */
  close: () => void
  isEmpty: () => boolean
  /** For how long the reader has not taken what is there. */
  stalledMs: () => number
}

export type EventBufferOptions = {
  waitingMaxBytes: number
  /** Called once: the reader has all, or wants no more. */
  onClosed: () => void
  now?: () => number
}

/** Between what happens and a reader that takes its time. It holds no more than `waitingMaxBytes` of what is offered. */
export function createEventBuffer({
  waitingMaxBytes,
  onClosed,
  now = () => performance.now(),
}: EventBufferOptions): EventBuffer {
  const waiting: Uint8Array[] = []
  let waitingBytes = 0
  let state: 'open' | 'ending' | 'closed' = 'open'
  let wake = Promise.withResolvers<void>()
  let takenAtMs = now()

  function push(bytes: Uint8Array): void {
    if (state !== 'open') return
    if (waiting.length === 0) takenAtMs = now()
    waiting.push(bytes)
    waitingBytes += bytes.length
    wake.resolve()
  }

  function close(): void {
    if (state === 'closed') return
    state = 'closed'
    waiting.length = 0
    waitingBytes = 0
    wake.resolve()
    onClosed()
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (waiting.length === 0 && state === 'open') {
      wake = Promise.withResolvers()
      await wake.promise
    }
    takenAtMs = now()
    const next = waiting.shift()
    if (next !== undefined) {
      waitingBytes -= next.length
      controller.enqueue(next)
    } else if (state === 'ending') {
      controller.close()
      close()
    }
  }

  return {
    // Nothing is kept in the stream itself: what waits is counted here.
    body: new ReadableStream<Uint8Array>({ pull, cancel: close }, { highWaterMark: 0 }),
    add: (frame) => push(Buffer.from(frame)),
    offer(frame) {
      const bytes = Buffer.from(frame)
      if (waitingBytes + bytes.length > waitingMaxBytes) return false
      push(bytes)
      return true
    },
    end() {
      if (state === 'open') state = 'ending'
      wake.resolve()
    },
    close,
    isEmpty: () => waiting.length === 0,
    stalledMs: () => (waiting.length === 0 ? 0 : now() - takenAtMs),
  }
}
