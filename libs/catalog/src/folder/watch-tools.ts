import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createBell } from './bell.ts'
import { ContextChanged } from './context-changed.ts'
import type { DirectoryWatchers } from './directory-watchers.ts'
import { createDirectoryWatchers } from './directory-watchers.ts'
import { listFolders } from './list-folders.ts'
import { mapLimited } from './map-limited.ts'
import { directoryKey, readContext } from './read-context.ts'

// What has changed is found by looking, never taken from an event: events only say when to look. One plain watcher for
// each directory, because Node's recursive one on Linux watches every single file, stays on an inode whose directory
// was replaced, and misses what is made in a new directory before it gets there
// (https://github.com/nodejs/node/issues/48437, https://github.com/nodejs/node/issues/52018). Where the kernel has no
// watches left, and on file systems that tell nothing, the poll is all there is.

const foldersAtOnce = 8
// Events come in crowds.
const restMs = 50

export type WatchOptions = {
  signal: AbortSignal
  /** Folders that look the same this long apart are settled. */
  settleMs?: number
  /** What changes without end is told after this all the same, and left to the one who reads it to refuse. */
  patienceMs?: number
  pollMs?: number
}

/** `ended` resolves after the signal, when nothing is held any more; it rejects when `onChange` did. */
export type ToolsWatch = { ended: Promise<void> }

/** A folder's path and what it looked like. */
type Look = ReadonlyMap<string, string | symbol>

/**
 * Resolves when it watches; calls `onChange` with the folders that have changed, appeared or gone, and not again
 * before it has returned.
 */
export async function watchTools(
  dirs: readonly string[],
  onChange: (folders: readonly string[]) => Promise<void> | void,
  { signal, settleMs = 200, patienceMs = 5_000, pollMs = 5_000 }: WatchOptions,
): Promise<ToolsWatch> {
  const bell = createBell(signal)
  const watchers = createDirectoryWatchers(bell.ring)
  const look = () => lookAt(dirs, watchers)
  let told = await look()

  const settle = async (): Promise<Look> => {
    const deadline = performance.now() + patienceMs
    let seen = await look()
    for (;;) {
      if (compare(told, seen).length === 0) return seen
      await bell.rest(settleMs)
      const now = await look()
      if (compare(seen, now).length === 0 || performance.now() > deadline || signal.aborted) return now
      seen = now
    }
  }
  const run = async () => {
    try {
      while (!signal.aborted) {
        await bell.wait(pollMs)
        await bell.rest(restMs)
        const seen = await settle()
        const changed = compare(told, seen)
        told = seen
        if (changed.length > 0 && !signal.aborted) await onChange(changed)
      }
    } finally {
      watchers.close()
    }
  }
  return { ended: run() }
}

function compare(before: Look, after: Look): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((dir) => before.get(dir) !== after.get(dir))
    .sort()
}

async function lookAt(dirs: readonly string[], watchers: DirectoryWatchers): Promise<Look> {
  const { folders, faults } = await listFolders(dirs)
  const directories = new Map<string, string>()
  for (const dir of dirs) {
    // One that is not there yet is awaited from its parent.
    if (!(await addDirectory(directories, dir))) await addDirectory(directories, dirname(dir))
  }
  const look = new Map<string, string | symbol>()
  for (const fault of faults) look.set(fault.dir, JSON.stringify(fault.faults))
  await mapLimited(folders, foldersAtOnce, async ({ dir }) => {
    try {
      const context = await readContext(dir)
      look.set(dir, context.stamp)
      for (const [path, key] of context.directories) directories.set(path, key)
    } catch (error) {
      if (!(error instanceof ContextChanged)) throw error
      // Like nothing that was seen before, so that it is looked at again.
      look.set(dir, Symbol('changing'))
    }
  })
  watchers.keep(directories)
  return look
}

async function addDirectory(directories: Map<string, string>, dir: string): Promise<boolean> {
  try {
    directories.set(dir, directoryKey(await stat(dir, { bigint: true })))
    return true
  } catch {
    return false
  }
}
