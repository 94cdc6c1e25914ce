import type { Pool, Sql } from './pool.ts'

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export async function transaction<T>(pool: Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((cause: unknown) => {
      broken = cause instanceof Error ? cause : new Error('rollback failed', { cause })
    })
    throw error
  } finally {
    // A connection that could not roll back is in an unknown state: destroyed, not pooled.
    client.release(broken)
  }
}
