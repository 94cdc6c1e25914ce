// What the operating system says of a server that is not there.
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
])

// What Postgres says when it comes, goes, or takes no more: connection exceptions, shutdown, start, too many
// connections, a standby that takes no writes, a statement that was cut off.
const serverCodes = /^(?:08...|57P0[1-4]|53[0-9]{3}|25006|57014)$/

// pg gives these faults no code.
const clientMessages =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|not queryable|connection timeout|after calling end/i

/** Whether `error` says that the database cannot be used now, as against a statement that it refused. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError && error.errors.some(isUnavailable)) return true
  if ('code' in error && typeof error.code === 'string') {
    if (networkCodes.has(error.code) || serverCodes.test(error.code)) return true
  }
  return clientMessages.test(error.message) || isUnavailable(error.cause)
}
