/**
 * Aborts when this process is asked to end: by SIGTERM or SIGINT, or because the supervisor that started it is gone.
 * A second signal ends it on the spot.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(code)
      controller.abort(signal)
    })
  }
  process.once('disconnect', () => controller.abort('the supervisor is gone'))
  return controller.signal
}
