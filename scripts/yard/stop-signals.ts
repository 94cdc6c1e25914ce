export type StopSignals = { stop: AbortSignal; hurry: AbortSignal; dispose(): void }

/** The first Ctrl-C, SIGTERM or SIGHUP asks to stop, the second to be quick about it. */
export function listenForStop(onFirst: () => void = () => {}): StopSignals {
  const stop = new AbortController()
  const hurry = new AbortController()
  const onSignal = () => {
    if (stop.signal.aborted) hurry.abort()
    else {
      onFirst()
      stop.abort()
    }
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, onSignal)
  return {
    stop: stop.signal,
    hurry: hurry.signal,
    dispose: () => {
      for (const signal of signals) process.off(signal, onSignal)
    },
  }
}
