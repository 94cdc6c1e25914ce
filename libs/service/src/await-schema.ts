import { setTimeout as delay } from 'node:timers/promises'
import { assertSchema, SchemaError } from '@toolyard/db/migrate'
import type { Sql } from '@toolyard/db/pool'

const retryMs = 1_000

/**
 * Resolves when the database is there and fits this release. A database that is down is waited for; one that does not
 * fit is a SchemaError at once, because waiting mends nothing.
 */
export async function awaitSchema(
  sql: Sql,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let isFailing = false
  for (;;) {
    signal.throwIfAborted()
    try {
      return await assertSchema(sql)
    } catch (error) {
      if (error instanceof SchemaError) throw error
      if (!isFailing) onFailure(error)
      isFailing = true
    }
    await delay(retryMs, undefined, { signal })
  }
}
