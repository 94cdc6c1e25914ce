import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Failure, codeOf } from '../terminal/failure.ts'
import type { ProcessIdentity } from '../machine/process-identity.ts'
import { identityOf, isAlive } from '../machine/process-identity.ts'

const pollMs = 50
/** Whom a file that was damaged names, as by a machine that lost its power: a process that does not live. */
const nobody: ProcessIdentity = { pid: 0, startTime: '' }

/** Runs `work` while no other process holds the lock. A holder that died does not hold it. */
export async function withLock<T>(
  path: string,
  options: { waitMs: number; what: string },
  work: () => Promise<T>,
): Promise<T> {
  const release = await acquireLock(path, options)
  try {
    return await work()
  } finally {
    release()
  }
}

/** Gives what releases the lock: once, and only while it is still ours. */
export async function acquireLock(
  path: string,
  options: { waitMs: number; what: string },
): Promise<() => void> {
  const deadline = performance.now() + options.waitMs
  for (;;) {
    if (tryLock(path)) return releaseOf(path)
    const holder = readHolder(path)
    if (holder !== undefined && !isAlive(holder)) removeStale(path, holder)
    else if (performance.now() > deadline) {
      throw new Failure(`${options.what} (pid ${holder?.pid ?? 'unknown'}): try again when it has ended`)
    } else await delay(pollMs)
  }
}

function releaseOf(path: string): () => void {
  let isHeld = true
  return () => {
    if (isHeld && readHolder(path)?.pid === process.pid) rmSync(path, { force: true })
    isHeld = false
  }
}

// A link is made whole or not at all: nobody can read a lock without its holder.
function tryLock(path: string): boolean {
  const draft = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(draft, JSON.stringify(identityOf(process.pid)), { mode: 0o600 })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

// Between reading and removing, another may have removed it and locked anew: then what was taken away is put back.
function removeStale(path: string, stale: ProcessIdentity): void {
  const taken = `${path}.${process.pid}.stale`
  try {
    renameSync(path, taken)
    const holder = readHolder(taken)
    if (holder !== undefined && (holder.pid !== stale.pid || holder.startTime !== stale.startTime))
      linkSync(taken, path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(taken, { force: true })
  }
}

/** Undefined when there is no lock. */
export function readHolder(path: string): ProcessIdentity | undefined {
  try {
    return asIdentity(JSON.parse(readFileSync(path, 'utf8'))) ?? nobody
  } catch (error) {
    if (error instanceof SyntaxError) return nobody
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

export function asIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('startTime' in value))
    return undefined
  const { pid, startTime } = value
  return typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : undefined
}
