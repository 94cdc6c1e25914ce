import type { Pool } from './pool.ts'

export type AdvisoryLock = {
  /** Aborted when the connection that holds the lock breaks: from then on somebody else may have it. */
  readonly signal: AbortSignal
  release(): Promise<void>
}

/**
 * A lock among all processes of the database, for work that lasts longer than a transaction should. It costs a
 * connection while it is held, and a process that dies gives it back. Undefined where another holds it.
 */
export async function tryLock(pool: Pool, name: string): Promise<AdvisoryLock | undefined> {
  const client = await pool.connect()
  const broken = new AbortController()
  const onEnd = () => broken.abort(new Error(`the connection that held the lock ${name} broke`))
  client.on('error', onEnd)
  client.on('end', onEnd)
  const giveBack = (error?: boolean) => {
    client.off('error', onEnd)
    client.off('end', onEnd)
    client.release(error)
  }
  try {
    const asked = await client.query<{ is_held: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as is_held',
      [name],
    )
    if (asked.rows[0]?.is_held !== true) {
      giveBack()
      return undefined
    }
  } catch (error) {
    giveBack(true)
    throw error
  }
  return {
    signal: broken.signal,
    async release() {
      try {
        await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name])
        giveBack()
      } catch {
        // Closing the connection gives the lock back as well.
        giveBack(true)
      }
    },
  }
}
