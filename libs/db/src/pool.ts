import pg from 'pg'

export type Pool = pg.Pool

/** What a verb needs to speak SQL: a pool, or the client of an open transaction. */
export type Sql = {
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<Row>>
}

export type PoolOptions = {
  url: string
  max: number
  /** Shown in pg_stat_activity, so that an operator sees whose connection it is. */
  applicationName: string
  /** Server settings for each connection, as in `-c synchronous_commit=off`. */
  serverOptions?: string
  /** Called when an idle connection breaks. The pool has already dropped it and makes a new one when needed. */
  onIdleError: (error: Error) => void
}

const connectTimeoutMs = 5_000
// A statement that runs longer holds locks that others wait for; nothing of ours needs a tenth of it.
const statementTimeoutMs = 30_000

export function createPool(options: PoolOptions): Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    keepAlive: true,
    ...(options.serverOptions === undefined ? {} : { options: options.serverOptions }),
  })
  pool.on('error', options.onIdleError)
  return pool
}
