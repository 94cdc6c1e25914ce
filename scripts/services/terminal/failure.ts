import { userInfo } from 'node:os'
import { ConfigError } from '@toolyard/config/load'
import { AppError } from '@toolyard/contract/errors'
import { SchemaError } from '@toolyard/db/migrate'

/** Something that a person can mend. The message says what is wrong and how to mend it; no stack is shown. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** A person at the terminal broke off by Ctrl-C. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
}

// What the operating system refuses at a path, and the mend: neither is a fault of ours.
const mends: Readonly<Record<string, string>> = {
  EACCES: 'run ./yard as the user who started Toolyard',
  EPERM: 'run ./yard as the user who started Toolyard',
  EROFS: 'set YARD_DATA_DIR to a folder that can be written',
  ENOSPC: 'make room on that disk',
  EDQUOT: 'make room in your quota on that disk',
}

/** What a person is told of the error instead of its stack; undefined for a fault of Toolyard itself. */
export function explain(error: unknown): string | undefined {
  if (error instanceof Failure || error instanceof Interruption) return error.message
  if (error instanceof ConfigError || error instanceof SchemaError || error instanceof AppError)
    return error.message
  const code = codeOf(error) ?? ''
  const mend = mends[code]
  if (mend === undefined || !(error instanceof Error && 'path' in error)) return undefined
  return `${String(error.path)} cannot be used by ${userInfo().username} (${code}): ${mend}`
}

export function messageOf(error: unknown): string {
  // A refused connection to a name with several addresses has an empty message of its own.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
