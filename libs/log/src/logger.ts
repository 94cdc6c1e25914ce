import type { DestinationStream } from 'pino'
import { pino } from 'pino'
import { redact } from './redaction.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type Fields = Readonly<Record<string, unknown>>

/** One JSON object per line on stdout. `message` is a fixed text; whatever varies goes into `fields`. */
export type Logger = {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
}

export type LoggerOptions = { service: string; level: LogLevel; destination?: DestinationStream }

export function createLogger(options: LoggerOptions): Logger {
  const sink = pino(
    {
      level: options.level,
      base: { service: options.service, pid: process.pid },
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    ...(options.destination === undefined ? [] : [options.destination]),
  )
  return {
    debug: (message, fields) => sink.debug(safe(fields), message),
    info: (message, fields) => sink.info(safe(fields), message),
    warn: (message, fields) => sink.warn(safe(fields), message),
    error: (message, fields) => sink.error(safe(fields), message),
  }
}

// Logging must never break the work it tells of: a getter that throws costs the fields, not the request.
function safe(fields: Fields | undefined): object {
  try {
    // safe because redact gives an object for an object
    return redact(fields ?? {}) as object
  } catch (error) {
    return { log_error: error instanceof Error ? error.message : 'fields could not be read' }
  }
}
