/** Whether the reader of an answer takes what it is told. What it does not take is kept in memory until it does. */
export type ReaderPace = {
  isBehind: () => boolean
  /** The same body, with an eye on how it is taken. */
  follow: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>
}

export type ReaderPaceOptions = {
  /** Called once the reader has taken nothing for so long that it never will. */
  onStalled: () => void
  times?: typeof defaultTimes
  now?: () => number
}

// Writing to a connection that has room takes less than the first. The second is that of the streams of events.
const defaultTimes = { behindAfterMs: 250, stalledMaxMs: 120_000 }

export function createReaderPace({
  onStalled,
  times = defaultTimes,
  now = () => performance.now(),
}: ReaderPaceOptions): ReaderPace {
  let givenAtMs: number | undefined
  return {
    isBehind: () => givenAtMs !== undefined && now() - givenAtMs > times.behindAfterMs,
    follow(body) {
      const reader = body.getReader()
      let stalling: NodeJS.Timeout | undefined
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            clearTimeout(stalling)
            givenAtMs = undefined
            const { done, value } = await reader.read()
            givenAtMs = now()
            if (done) return controller.close()
            stalling = setTimeout(onStalled, times.stalledMaxMs).unref()
            return controller.enqueue(value)
          },
          cancel(reason) {
            clearTimeout(stalling)
            return reader.cancel(reason)
          },
        },
        // It is asked for the next only when the last is written.
        { highWaterMark: 0 },
      )
    },
  }
}
