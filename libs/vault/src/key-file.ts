import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { VaultError } from './vault-error.ts'

// Where no YARD_SECRET_KEYS are given, the master keys are in this file of the data directory, in the same form.

const othersMayWrite = 0o022
const othersMayDoAnything = 0o077
const sizeMaxBytes = 16_384

export const keyFile = (dataDir: string) => join(dataDir, 'vault.keys')

/** Its text; undefined when there is no such file. Refuses a file that somebody else can read or could have made. */
export function readKeyFile(path: string): string | undefined {
  let descriptor: number
  try {
    // Without waiting, should it be a pipe.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    const mend =
      codeOf(error) === 'ELOOP'
        ? 'put the file itself there, not a link'
        : 'make it readable for this process'
    throw new VaultError(`${path}, the file of the master keys, cannot be opened (${codeOf(error)}): ${mend}`)
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw new VaultError(`${path} is no file: the file of the master keys belongs there`)
    refuseForeign(path, stat)
    if ((stat.mode & othersMayDoAnything) !== 0)
      throw new VaultError(`${path} can be used by others than its owner: chmod 600 ${path}`)
    if (stat.size > sizeMaxBytes) throw new VaultError(`${path} is too large for a file of master keys`)
    refuseOpenFolder(dirname(path))
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Makes a key and the file with it, whole or not at all, and gives its text. It is on the disk when this returns.
 * Where a file came into being meanwhile, as of an installation on another database, that one counts.
 */
export function makeKeyFile(path: string): string {
  const folder = dirname(path)
  refuseOpenFolder(folder)
  const text = `k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64url')}\n`
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true })
    // A rename would replace a file that came into being meanwhile; a link refuses to.
    linkSync(draft, path)
    syncFolder(folder)
    return text
  } catch (error) {
    const made = codeOf(error) === 'EEXIST' ? readKeyFile(path) : undefined
    if (made !== undefined) return made
    const mend = 'make the folder writable, or set YARD_SECRET_KEYS'
    throw new VaultError(`${path}, the file of the master keys, cannot be made (${codeOf(error)}): ${mend}`)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Who can write in the folder can put a key file of his own there before we make ours. */
function refuseOpenFolder(folder: string): void {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) {
    throw new VaultError(
      `${folder}, the data directory, is no folder: make it for the file of the master keys, or set YARD_SECRET_KEYS`,
    )
  }
  refuseForeign(folder, stat)
  if ((stat.mode & othersMayWrite) !== 0) {
    throw new VaultError(
      `${folder} holds the file of the master keys, and others than its owner can write there: chmod go-w ${folder}`,
    )
  }
}

function refuseForeign(path: string, { uid }: { uid: number }): void {
  const self = process.geteuid?.() ?? uid
  if (uid === self || uid === 0) return
  throw new VaultError(
    `${path} belongs to the user ${uid}, who is neither the one of this process (${self}) nor root: chown it`,
  )
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

// Messages of the file system name paths; the path is told already.
const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
