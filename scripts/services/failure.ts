import { ConfigError } from '@toolyard/config/load'
import { SchemaError } from '@toolyard/db/migrate'

/** Something that a person can mend. The message says what is wrong and how to mend it; no stack is shown. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

export const isExpected = (error: unknown): error is Error =>
  error instanceof Failure || error instanceof ConfigError || error instanceof SchemaError

export function messageOf(error: unknown): string {
  // A refused connection to a name with several addresses has an empty message of its own.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
