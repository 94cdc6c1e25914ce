import { assertSchema, SchemaError } from '@toolyard/db/migrate'
import type { Sql } from '@toolyard/db/pool'
import { awaitOpening } from './await-opening.ts'

/**
 * Resolves when the database is there and fits this release. A database that is down is waited for; one that does not
 * fit is a SchemaError at once, because waiting mends nothing.
 */
export async function awaitSchema(
  sql: Sql,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const isFinal = (error: unknown) => error instanceof SchemaError
  await awaitOpening(() => assertSchema(sql), { signal, isFinal, onFailure })
}
