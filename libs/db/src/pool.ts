import pg from 'pg'
import { noteConnectionFault } from './is-unavailable.ts'
import type { PreparedQuery } from './prepared.ts'

export type Pool = pg.Pool

/** What a verb needs to speak SQL: a pool, or the client of an open transaction. */
export type Sql = {
  query<Row extends pg.QueryResultRow>(
    statement: string | PreparedQuery,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>
}

export type PoolOptions = {
  url: string
  max: number
  /** Shown in pg_stat_activity, so that an operator sees whose connection it is. */
  applicationName: string
  /** Server settings for each connection, as in `-c synchronous_commit=off`. */
  serverOptions?: string
  /** How long the server may work on one statement, and a transaction may stand idle: 30 s. */
  statementTimeoutMs?: number
  /** How long to wait for the answer to one statement: 5 s more, so that a server that can answer does. */
  answerTimeoutMs?: number
  /** Called when an idle connection breaks. The pool has already dropped it and makes a new one when needed. */
  onIdleError: (error: Error) => void
}

// Also the longest wait for a free connection of a full pool.
const connectTimeoutMs = 5_000
// A statement that runs longer holds locks that others wait for; nothing of ours needs a tenth of it.
const statementTimeoutDefaultMs = 30_000
const answerGraceMs = 5_000

/** Every wait on what it gives ends: for a connection, for the server's work, for an answer that never comes. */
export function createPool(options: PoolOptions): Pool {
  const { statementTimeoutMs = statementTimeoutDefaultMs } = options
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // Ours never wait inside a transaction: one that does has lost its process or its network, and keeps its locks.
    idle_in_transaction_session_timeout: statementTimeoutMs,
    query_timeout: options.answerTimeoutMs ?? statementTimeoutMs + answerGraceMs,
    keepAlive: true,
    // What is asked of one connection before the answer to the last is there goes out at once. Each statement still sees
    // what was committed before it began, and none runs after one of its transaction has failed.
    pipeline: true,
    Client,
    ...(options.serverOptions === undefined ? {} : { options: options.serverOptions }),
  })
  pool.on('error', options.onIdleError)
  // A break of a connection in use is an event too, and one that nobody hears ends the process. Its user is told by
  // the statement that fails, and the pool does not take the connection back.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('release', destroyUnlessIdle)
  return pool
}

// Faults are noted where they rise: a connection that cannot be made tells nobody but the statement that waits for it.
class Client extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.connection.on('error', noteConnectionFault)
  }
}

/** The next to get such a connection would work inside a stranger's transaction, or wait behind a stranger's statement. */
function destroyUnlessIdle(error: Error | boolean | undefined, client: pg.PoolClient): void {
  // pg itself, before it ends a connection, waits for all the answers of a pipeline, also for those that never come.
  if (Boolean(error) && !(error instanceof pg.DatabaseError)) client.connection.stream.destroy()
  // The pool drops what is ending.
  else if (client.getTransactionStatus() !== 'I') client.end(() => {})
}
