import type { Pool } from '@toolyard/db/pool'

export type BoundedStatement = { text: string; values?: readonly unknown[]; limitMs: number }

/**
 * Runs one statement and gives up after `limitMs`, connecting included. The server's own statement timeout cannot
 * cross a network that is cut, so the wait is ended on this side and the connection destroyed with it.
 */
export async function queryWithin<Row extends Record<string, unknown>>(
  pool: Pool,
  statement: BoundedStatement,
): Promise<Row[]> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => timeout.reject(new Error(`the database did not answer within ${statement.limitMs} ms`)),
    statement.limitMs,
  )
  try {
    const client = await connectBefore(pool, timeout.promise)
    try {
      const result = await Promise.race([
        client.query<Row>(statement.text, [...(statement.values ?? [])]),
        timeout.promise,
      ])
      client.off('error', ignoreError)
      client.release()
      return result.rows
    } catch (error) {
      client.release(true)
      throw error
    }
  } finally {
    clearTimeout(timer)
  }
}

async function connectBefore(pool: Pool, timeout: Promise<never>) {
  let isLate = false
  const connecting = pool.connect().then((client) => {
    if (isLate) client.release()
    // A client in use whose connection breaks emits an error that would end the process if nobody listened.
    else client.on('error', ignoreError)
    return client
  })
  try {
    return await Promise.race([connecting, timeout])
  } catch (error) {
    isLate = true
    throw error
  }
}

// The statement on that connection fails with the same error and tells the caller.
function ignoreError(): void {}
