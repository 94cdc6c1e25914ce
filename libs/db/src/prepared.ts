import { createHash } from 'node:crypto'

/** What a pool or a transaction takes in place of text and values. */
export type PreparedQuery = { name: string; text: string; values: unknown[] }

/**
 * A statement that each connection parses once, and plans once when its plan does not depend on the values. For what
 * every call needs: planning costs more there than running. Its columns are named, because a plan whose result changes
 * its form is refused.
 */
export function prepared(text: string): (values: unknown[]) => PreparedQuery {
  // Postgres cuts longer names off at 63 bytes.
  const name = createHash('sha256').update(text).digest('base64url')
  return (values) => ({ name, text, values })
}
