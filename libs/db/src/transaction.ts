import pg from 'pg'
import type { Pool, Sql } from './pool.ts'

export type TransactionOptions = {
  /**
   * What `work` asks first would do no harm outside of a transaction: it is sent together with the `begin`, and what
   * comes next only when that has been answered well.
   */
  opensHarmlessly?: boolean
}

/**
 * Runs `work` in one transaction: committed when it returns, rolled back when it throws.
 * A connection that is lost during the commit leaves open whether it was committed; that is a rejection too.
 */
export async function transaction<T>(
  pool: Pool,
  work: (sql: Sql) => Promise<T>,
  { opensHarmlessly = false }: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect()
  const session = openSession(client)
  const { sql } = session
  try {
    const begun = session.begin()
    if (!opensHarmlessly) await begun
    const [result] = await Promise.all([work(sql), begun])
    const { command } = await sql.query('commit')
    // Postgres answers the commit of a failed transaction with a rollback and no error.
    if (command !== 'COMMIT') {
      throw new Error(
        'The transaction was rolled back: one of its statements failed, and the error was caught',
      )
    }
    return result
  } catch (error) {
    await session.rollBack()
    throw error
  } finally {
    session.close()
  }
}

/**
 * The use of one connection by one transaction. What the server did not say itself (a break, an answer that does not
 * come) leaves the connection in an unknown state: from then on it answers nothing, and in the end it is destroyed.
 */
function openSession(client: pg.PoolClient) {
  let broken: Error | undefined
  let closed = false
  const noteBreak = (error: unknown): Error => (broken ??= asError(error))
  client.on('error', noteBreak)
  const sql: Sql = {
    async query(statement, values) {
      if (closed) throw new Error('The transaction has ended: await its statements before it returns')
      if (broken !== undefined) throw broken
      try {
        return await client.query(statement, values)
      } catch (error) {
        throw error instanceof pg.DatabaseError ? error : noteBreak(error)
      }
    },
  }
  return {
    sql,
    async begin(): Promise<void> {
      try {
        await client.query('begin')
      } catch (error) {
        // Whatever the reason, nothing more is asked: it would be outside of a transaction.
        throw noteBreak(error)
      }
    },
    async rollBack(): Promise<void> {
      // What is still to be asked by work that had several things under way would be outside of the transaction.
      closed = true
      // Behind a statement that was never answered it would not be answered either.
      if (broken === undefined) await client.query('rollback').catch(noteBreak)
    },
    close(): void {
      closed = true
      client.off('error', noteBreak)
      client.release(broken)
    },
  }
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error('unknown', { cause: error }))
