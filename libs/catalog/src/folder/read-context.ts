import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { lstat, readdir, readlink, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { ContextChanged } from './context-changed.ts'
import { explainFileError, isGone, isOwnTrouble } from './explain-file-error.ts'
import type { ContextEntry, FileFault } from './found-tool.ts'
import { isExecutable } from './read-chunks.ts'
import type { ContextRules } from './read-dockerignore.ts'
import { includeAll, readDockerignore } from './read-dockerignore.ts'
import { readSmallFile } from './read-small-file.ts'

const contextBytesMax = 64 * 1_048_576
const contextEntriesMax = 10_000
// Ignored ones are looked at too.
const listedEntriesMax = 100_000
const faultsMax = 100

/** The engine needs both for its own work and takes them out of what the Dockerfile sees, if they are ignored. */
const alwaysSent = new Set(['Dockerfile', '.dockerignore'])

type ListedFile = Omit<Extract<ContextEntry, { type: 'file' }>, 'digest'>
export type ListedEntry = ListedFile | Exclude<ContextEntry, { type: 'file' }>

/** A build context without the contents of its files. */
export type Context = {
  entries: readonly ListedEntry[]
  faults: readonly FileFault[]
  /** Differs as soon as a file is written, moved, or gets other permissions. */
  stamp: string
  /** When something was last changed, by the clock of the file system. */
  changedAtMs: number
  /** Those that were listed, with a name that a directory put in their place does not share. */
  directories: ReadonlyMap<string, string>
}

type Walk = {
  dir: string
  rules: ContextRules
  entries: ListedEntry[]
  faults: FileFault[]
  stamps: string[]
  directories: Map<string, string>
  changedAtMs: number
  listedCount: number
  sentBytes: number
}

/** Reads what is in a tool's folder; never opens anything but `.dockerignore`, and follows no link below the folder. */
export async function readContext(dir: string): Promise<Context> {
  const ignore = await readIgnoreFile(dir)
  const walk: Walk = {
    dir,
    rules: ignore.rules,
    entries: [],
    faults: [...ignore.faults],
    stamps: [],
    directories: new Map(),
    changedAtMs: 0,
    listedCount: 0,
    sentBytes: 0,
  }
  await listDirectory(walk, '', false)
  const { faults, stamps, changedAtMs, directories } = walk
  const stamp = createHash('sha256').update(JSON.stringify(stamps)).digest('hex')
  return { entries: completeEntries(walk.entries), faults, stamp, changedAtMs, directories }
}

async function readIgnoreFile(dir: string): Promise<{ rules: ContextRules; faults: FileFault[] }> {
  const read = await readSmallFile(join(dir, '.dockerignore'))
  if (read.state === 'missing') return { rules: includeAll, faults: [] }
  if (read.state === 'refused')
    return { rules: includeAll, faults: [{ file: '.dockerignore', detail: read.detail }] }
  return readDockerignore(read.bytes.toString('utf8'))
}

async function listDirectory(walk: Walk, path: string, isExcluded: boolean): Promise<void> {
  const place = join(walk.dir, path)
  const stats = await statEntry(walk, path)
  const names = stats && (await readOr(walk, path, () => readdir(place)))
  if (stats === undefined || names === undefined) return
  noteChange(walk, stats)
  walk.stamps.push(`${path} ${stats.mode}`)
  walk.directories.set(place, directoryKey(stats))
  if (path !== '' && !isExcluded) walk.entries.push({ type: 'directory', path })
  // Sorted, so that what is left out over a limit is the same each time.
  for (const name of names.sort()) {
    if (isOverLimit(walk)) return
    await listEntry(walk, path === '' ? name : `${path}/${name}`)
  }
}

async function listEntry(walk: Walk, path: string): Promise<void> {
  walk.listedCount += 1
  const isExcluded = !alwaysSent.has(path) && walk.rules.excludes(path)
  const isManifest = path === 'manifest.json'
  if (isExcluded && !isManifest && !walk.rules.hasExceptions) return
  if (path.includes('\uFFFD')) {
    walk.faults.push({ file: path, detail: 'its name is not UTF-8' })
    return
  }
  const stats = await statEntry(walk, path)
  if (stats === undefined) return
  if (stats.isDirectory()) {
    await listDirectory(walk, path, isExcluded)
    return
  }
  if (isExcluded && !isManifest) return
  noteChange(walk, stats)
  const { ino, size, mode, mtimeNs, ctimeNs } = stats
  walk.stamps.push([path, ino, size, mode, mtimeNs, ctimeNs].join(' '))
  if (!isExcluded) await addEntry(walk, path, stats)
}

async function addEntry(walk: Walk, path: string, stats: BigIntStats): Promise<void> {
  if (stats.isFile()) {
    const size = Number(stats.size)
    walk.sentBytes += size
    walk.entries.push({ type: 'file', path, executable: isExecutable(stats.mode), size })
  } else if (!stats.isSymbolicLink()) {
    walk.faults.push({ file: path, detail: 'is neither a file nor a directory nor a link: remove it' })
  } else {
    const target = await readOr(walk, path, () => readlink(join(walk.dir, path)))
    if (target === undefined) return
    const detail = `is a link to ${JSON.stringify(target)}, outside the folder: put a copy in its place`
    if (leadsOut(path, target)) walk.faults.push({ file: path, detail })
    else walk.entries.push({ type: 'link', path, target })
  }
}

// Nobody here follows a link, and the engine does not leave the context: it is enough to see how it is spelled.
function leadsOut(path: string, target: string): boolean {
  if (target.startsWith('/') || target.includes('\uFFFD')) return true
  const end = posix.join(posix.dirname(path), target)
  return end === '..' || end.startsWith('../')
}

function isOverLimit(walk: Walk): boolean {
  const sentCount = walk.entries.length
  const what =
    walk.faults.length >= faultsMax
      ? 'has more faults'
      : sentCount > contextEntriesMax
        ? `holds more than ${contextEntriesMax} files: name in .dockerignore what the image does not need`
        : walk.listedCount > listedEntriesMax
          ? `holds more than ${listedEntriesMax} files, ignored ones included: too many to look at`
          : walk.sentBytes > contextBytesMax
            ? `holds more than ${contextBytesMax / 1_048_576} MiB: name in .dockerignore what the image does not need`
            : undefined
  if (what === undefined) return false
  if (!walk.faults.some(({ detail }) => detail === what)) walk.faults.push({ file: '.', detail: what })
  return true
}

const statEntry = (walk: Walk, path: string) =>
  readOr(walk, path, () =>
    path === '' ? stat(walk.dir, { bigint: true }) : lstat(join(walk.dir, path), { bigint: true }),
  )

async function readOr<T>(walk: Walk, path: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isGone(error)) throw new ContextChanged(path === '' ? walk.dir : path, 'is gone')
    if (isOwnTrouble(error)) throw error
    walk.faults.push({ file: path === '' ? '.' : path, detail: `cannot be read: ${explainFileError(error)}` })
    return undefined
  }
}

function noteChange(walk: Walk, { ctimeMs }: BigIntStats): void {
  walk.changedAtMs = Math.max(walk.changedAtMs, Number(ctimeMs))
}

export const directoryKey = ({ dev, ino, birthtimeNs }: BigIntStats) => `${dev}:${ino}:${birthtimeNs}`

/** Sorted, and with the directories of what is included although its directory is not. */
function completeEntries(entries: readonly ListedEntry[]): ListedEntry[] {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]))
  for (const { path } of entries) {
    for (
      let parent = posix.dirname(path);
      parent !== '.' && !byPath.has(parent);
      parent = posix.dirname(parent)
    )
      byPath.set(parent, { type: 'directory', path: parent })
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}
