import type { FSWatcher } from 'node:fs'
import { watch } from 'node:fs'
import { basename } from 'node:path'

export type DirectoryWatchers = {
  /**
   * Watches these directories and no others. The name beside the path is not shared by a directory that is put in its
   * place: a watcher stays with the old one.
   */
  keep: (directories: ReadonlyMap<string, string>) => void
  close: () => void
}

type Watched = { key: string; watcher: FSWatcher }

/** `onEvent` is a hint to look; it also comes after a directory was added, for what happened in it before. */
export function createDirectoryWatchers(onEvent: () => void): DirectoryWatchers {
  const watched = new Map<string, Watched>()

  const drop = (path: string) => {
    watched.get(path)?.watcher.close()
    watched.delete(path)
  }
  const add = (path: string, key: string) => {
    try {
      const watcher = watch(path, (event, name) => {
        // Its own name: it was removed or moved. Whatever has its path now gets its own watcher.
        if (event === 'rename' && name === basename(path)) drop(path)
        onEvent()
      })
      watcher.on('error', () => drop(path))
      watched.set(path, { key, watcher })
      onEvent()
    } catch {
      // Gone again, or the kernel has no watches left: the poll sees what happens there.
    }
  }
  return {
    keep(directories) {
      for (const [path, { key }] of watched) if (directories.get(path) !== key) drop(path)
      for (const [path, key] of directories) if (!watched.has(path)) add(path, key)
    },
    close() {
      for (const { watcher } of watched.values()) watcher.close()
      watched.clear()
    },
  }
}
