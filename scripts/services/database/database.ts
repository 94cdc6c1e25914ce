import { setTimeout as delay } from 'node:timers/promises'
import { userInfo } from 'node:os'
import { createPool } from '@toolyard/db/pool'
import type { Pool, PoolOptions } from '@toolyard/db/pool'
import { Failure, codeOf, messageOf } from '../terminal/failure.ts'

const pollMs = 100
const versionMin = 150_000
const versionEnd = 190_000

const insufficientPrivilege = '42501'

// What waiting cannot mend: wrong password, no right to log in, no such database.
const finalCodes = ['28P01', '28000', '3D000', 'ENOTFOUND', 'ERR_INVALID_URL']

/** Waits until the server answers and is of a version we know. The password never appears in a message. */
export async function waitForDatabase(url: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await askVersion(url)
    if ('version' in answer) {
      refuseVersion(answer.version, url)
      return
    }
    signal.throwIfAborted()
    const { error } = answer
    if (error instanceof Failure) throw error
    if (finalCodes.includes(codeOf(error) ?? '') || performance.now() > deadline) {
      throw new Failure(
        `No database at ${addressOf(url)} (${describe(error)}): start it or correct DATABASE_URL; unset, ./yard runs its own Postgres`,
        { cause: error },
      )
    }
    await delay(pollMs)
  }
}

/** What the server says about its version, or why it does not answer. */
export async function askVersion(url: string): Promise<{ version: number } | { error: unknown }> {
  try {
    return await withPool(url, async (pool) => {
      const result = await pool.query<{ version: number }>(
        "select current_setting('server_version_num')::int as version",
      )
      return { version: result.rows[0]?.version ?? 0 }
    })
  } catch (error) {
    return { error }
  }
}

export async function withPool<T>(
  url: string,
  work: (pool: Pool) => Promise<T>,
  limits: Pick<PoolOptions, 'statementTimeoutMs'> = {},
): Promise<T> {
  const pool = createPool({ url, max: 2, applicationName: 'toolyard-yard', onIdleError: () => {}, ...limits })
  try {
    return await work(pool)
  } catch (error) {
    throw codeOf(error) === insufficientPrivilege ? missingGrant(error, url) : error
  } finally {
    await pool.end()
  }
}

/** What the server refused to the role, with what the owner of the database can do about it. */
function missingGrant(error: unknown, url: string): Failure {
  const { username, pathname } = new URL(url)
  const role = quoteIdentifier(decodeURIComponent(username) || userInfo().username)
  const refused = messageOf(error)
  const schema = /for schema (\S+)$/.exec(refused)?.[1]
  const database = decodeURIComponent(pathname.slice(1)) || role
  const mend =
    schema !== undefined
      ? `run "grant usage, create on schema ${quoteIdentifier(schema)} to ${role}"`
      : refused.includes('for database')
        ? `run "grant connect, create on database ${quoteIdentifier(database)} to ${role}"`
        : `make ${role} the owner of what Toolyard made there`
  return new Failure(
    `The database at ${addressOf(url)} refuses (${refused}): let its owner ${mend}, or set DATABASE_URL to a role that may`,
    { cause: error },
  )
}

const quoteIdentifier = (name: string) =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`

/** `user@host:port/database` of a database URL, without its password and options. */
export function addressOf(url: string): string {
  const { username, hostname, port, pathname, protocol } = new URL(url)
  const defaultPort = protocol.startsWith('redis') ? '6379' : '5432'
  return `${username === '' ? '' : `${decodeURIComponent(username)}@`}${hostname || 'localhost'}:${port || defaultPort}${pathname}`
}

function refuseVersion(version: number, url: string): void {
  if (version >= versionMin && version < versionEnd) return
  const major = Math.floor(version / 10_000)
  throw new Failure(
    `The database at ${addressOf(url)} is Postgres ${major}: set DATABASE_URL to a Postgres 15 to 18`,
  )
}

function describe(error: unknown): string {
  const code = codeOf(error)
  const message = messageOf(error)
  return code === undefined || message.includes(code) ? message : `${message}, ${code}`
}
