/** An engine that refused (`status`) or that did not answer (no `status`). */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly status: number | undefined

  constructor(message: string, status: number | undefined, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

/** One call to the engine. It is over after `timeoutMs`, or with the signal, whatever the engine does. */
export async function callEngine<T>(
  timeoutMs: number,
  call: (abortSignal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  const late = Promise.withResolvers<never>()
  const giveUp = (reason: string) => {
    controller.abort()
    late.reject(new EngineError(reason, undefined))
  }
  const timer = setTimeout(() => giveUp(`the engine did not answer within ${timeoutMs} ms`), timeoutMs)
  const cancel = () => giveUp('the call was cancelled')
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  const work = call(controller.signal)
  // The loser may still fail later, when nobody waits for it any more.
  work.catch(() => {})
  try {
    return await Promise.race([work, late.promise])
  } catch (error) {
    throw error instanceof EngineError ? error : engineError(error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}

function engineError(error: unknown): EngineError {
  if (!(error instanceof Error)) return new EngineError('unknown error', undefined, error)
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
  const reason =
    'json' in error && typeof error.json === 'object' && error.json !== null && 'message' in error.json
      ? String(error.json.message)
      : error.message.trim()
  return new EngineError(reason || ('code' in error ? String(error.code) : 'unknown error'), status, error)
}
