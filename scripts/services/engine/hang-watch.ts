import { probeEngine } from '@toolyard/sandbox/engine'

export type HangWatch = {
  /** Asks the engine, unless an answer is still awaited or was heard a moment ago. */
  look(nowMs: number): void
  isHung(): boolean
  /** It was started again. */
  forget(): void
}

const everyMs = 5_000
// With the 3 s that each may take, half a minute at the least. A busy engine answers one of them.
const silencesMax = 6

/**
 * Whether an engine that lives has ceased to answer. Docker 20.10 can lock itself up for good when many of its containers
 * end at once: its network code waits for itself, and with it whoever asks for anything.
 */
export function watchForHang(
  dockerHost: string,
  probe: (dockerHost: string) => Promise<{ state: string }> = probeEngine,
): HangWatch {
  let silences = 0
  let askedAtMs = Number.NEGATIVE_INFINITY
  let isAsking = false

  const hear = (isAnswered: boolean) => {
    silences = isAnswered ? 0 : silences + 1
    isAsking = false
  }

  return {
    look(nowMs) {
      if (isAsking || nowMs < askedAtMs + everyMs) return
      askedAtMs = nowMs
      isAsking = true
      probe(dockerHost).then(
        ({ state }) => hear(state === 'ready'),
        () => hear(false),
      )
    },
    isHung: () => silences >= silencesMax,
    forget() {
      silences = 0
    },
  }
}
