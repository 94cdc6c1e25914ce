import pg from 'pg'

// What Postgres says when it comes, goes, or takes no more: connection exceptions, shutdown, start, too many
// connections, a standby that takes no writes, a statement that was cut off.
const serverCodes = /^(?:08...|57P0[1-4]|53[0-9]{3}|25006|57014)$/

// What pg says of a connection that was lost, or that could not be had in time. It gives these errors no code.
const clientMessages = new Set([
  'timeout exceeded when trying to connect',
  'Cannot use a pool after calling end on the pool',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Connection terminated',
  'Connection terminated due to connection timeout',
  'Connection terminated unexpectedly',
  'Query read timeout',
])

// The same ECONNREFUSED comes from a Redis or an engine: what tells whose it is, is the connection it rose on.
const connectionFaults = new WeakSet<Error>()

/** For the connections of the pool: whatever rises there says that the database cannot be reached. */
export function noteConnectionFault(error: Error): void {
  connectionFaults.add(error)
}

/** Whether `error` says that the database cannot be used now, as against a statement that it refused. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (connectionFaults.has(error)) return true
  if (error instanceof pg.DatabaseError) return serverCodes.test(error.code ?? '')
  return clientMessages.has(error.message) || isUnavailable(error.cause)
}
