import type { Fields, Logger, LogLevel } from './logger.ts'

/** One flat line per unit of work, gathered while it runs and written once when it ends. */
export type WideEvent = {
  set(fields: Fields): void
  /** Writes the line; a second call does nothing. */
  emit(level: LogLevel): void
}

export function startWideEvent(logger: Logger, message: string, fields: Fields = {}): WideEvent {
  const startedAt = performance.now()
  const gathered: Record<string, unknown> = { ...fields }
  let emitted = false
  return {
    set(more) {
      Object.assign(gathered, more)
    },
    emit(level) {
      if (emitted) return
      emitted = true
      logger[level](message, {
        ...gathered,
        duration_ms: Math.round((performance.now() - startedAt) * 100) / 100,
      })
    },
  }
}
