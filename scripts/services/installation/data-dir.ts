import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { userInfo } from 'node:os'
import { Failure, codeOf } from '../terminal/failure.ts'
import type { Installation } from './installation.ts'

// A file of ours says that a folder is a data directory. Without it nothing there is written, unmounted or deleted:
// YARD_DATA_DIR may be mistyped.
const markName = '.toolyard-data'
const markText =
  'A data directory of Toolyard. `./yard down --delete-data` deletes what Toolyard keeps here.\n'

type DataDir = Pick<Installation, 'dataDir' | 'paths'>

/** Makes the data directory and its folders, or says why it cannot be used. */
export function prepareDataDir(installation: DataDir): void {
  const { dataDir, paths } = installation
  try {
    if (!existsSync(dataDir)) {
      mkdirSync(dataDir, { recursive: true })
      // The database runs as a user of its own, who must be able to pass and nothing else.
      chmodSync(dataDir, 0o711)
    }
    // Refuses a folder of somebody else's; one from before there were marks gets its own.
    hasDataDir(installation)
    writeFileSync(join(dataDir, markName), markText)
    mkdirSync(paths.logs, { recursive: true, mode: 0o700 })
    mkdirSync(paths.run, { recursive: true, mode: 0o700 })
    const probe = join(paths.run, `probe.${process.pid}`)
    writeFileSync(probe, '')
    rmSync(probe)
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure(
      `The data directory ${dataDir} cannot be written by ${userInfo().username} (${codeOf(error) ?? 'unknown reason'}): ` +
        'make it writable, or set YARD_DATA_DIR to a folder that is',
      { cause: error },
    )
  }
}

/** Whether there is anything of ours yet. Throws for a folder that is somebody else's. */
export function hasDataDir({ dataDir, paths }: DataDir): boolean {
  // A disk of its own comes with a lost+found.
  const names = existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name !== 'lost+found') : []
  if (names.length === 0) return false
  if (names.includes(markName) || isFromBeforeMarks(names, paths)) return true
  throw new Failure(
    `${dataDir} is not one of Toolyard's data directories and is not empty (${names.slice(0, 3).join(', ')}): set YARD_DATA_DIR to an empty or new one`,
  )
}

/** Nothing but our files, and among them one whose name nobody else gives. */
function isFromBeforeMarks(names: string[], paths: DataDir['paths']): boolean {
  const ours = new Set(Object.values(paths).map((path) => basename(path)))
  const telling = [paths.adminKey, paths.postgresRecord].map((path) => basename(path))
  return names.every((name) => ours.has(name)) && names.some((name) => telling.includes(name))
}

/** Whether any user of the machine can get to this path: every folder on the way may be passed by others. */
export function isPassableByOthers(path: string): boolean {
  const nearest = existsSync(path) ? path : dirname(path)
  if (!existsSync(nearest)) return isPassableByOthers(nearest)
  for (let folder = nearest; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false
    if (folder === dirname(folder)) return true
  }
}

/**
 * Deletes what Toolyard made there and nothing else. Returns the names that were left; where there are any, the mark
 * stays with them, so that the folder can be used again.
 */
export function deleteData(installation: DataDir): string[] {
  const { dataDir, paths } = installation
  if (!hasDataDir(installation)) return []
  for (const path of Object.values(paths)) remove(path)
  const left = readdirSync(dataDir).filter((name) => name !== markName)
  if (left.length > 0) return left
  rmSync(join(dataDir, markName), { force: true })
  remove(dataDir)
  return []
}

function remove(path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (!entry?.isDirectory()) return rmSync(path, { force: true })
  for (const name of readdirSync(path)) remove(join(path, name))
  try {
    rmdirSync(path)
  } catch (error) {
    // A disk that the operator mounted there has lost its files; the folder it is mounted on stays.
    if (codeOf(error) !== 'EBUSY') throw error
  }
}
