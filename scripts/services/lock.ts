import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Failure, codeOf } from './failure.ts'
import { readJson } from './json-file.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { identityOf, isAlive } from './process-identity.ts'

const pollMs = 50

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

export async function acquireLock(
  path: string,
  options: { waitMs: number; what: string },
): Promise<() => void> {
  const deadline = performance.now() + options.waitMs
  for (;;) {
    if (tryLock(path)) return () => rmSync(path, { force: true })
    const holder = readHolder(path)
    if (holder !== undefined && !isAlive(holder)) removeStale(path, holder)
    else if (performance.now() > deadline) {
      throw new Failure(`${options.what} (pid ${holder?.pid ?? 'unknown'}): try again when it has ended`)
    } else await delay(pollMs)
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

export const readHolder = (path: string) => readJson(path, asIdentity)

export function asIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('startTime' in value))
    return undefined
  const { pid, startTime } = value
  return typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : undefined
}
