import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { userInfo } from 'node:os'
import { Failure, codeOf } from './failure.ts'
import type { Installation } from './installation.ts'

type DataDir = Pick<Installation, 'dataDir' | 'paths'>

/** Makes the data directory and its folders, or says why it cannot be used. */
export function prepareDataDir({ dataDir, paths }: DataDir): void {
  try {
    if (!existsSync(dataDir)) {
      mkdirSync(dataDir, { recursive: true })
      // The database runs as a user of its own, who must be able to pass and nothing else.
      chmodSync(dataDir, 0o711)
    }
    mkdirSync(paths.logs, { recursive: true, mode: 0o700 })
    mkdirSync(paths.run, { recursive: true, mode: 0o700 })
    const probe = join(paths.run, `probe.${process.pid}`)
    writeFileSync(probe, '')
    rmSync(probe)
  } catch (error) {
    throw new Failure(
      `The data directory ${dataDir} cannot be written by ${userInfo().username} (${codeOf(error) ?? 'unknown reason'}): ` +
        'make it writable, or set YARD_DATA_DIR to a folder that is',
      { cause: error },
    )
  }
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

/** Deletes what Toolyard made there and nothing else. Returns the names that were left. */
export function deleteData({ dataDir, paths }: DataDir): string[] {
  if (!existsSync(dataDir)) return []
  for (const path of [...Object.values(paths), paths.postgresRecord])
    rmSync(path, { recursive: true, force: true })
  const left = readdirSync(dataDir)
  if (left.length === 0) rmdirSync(dataDir)
  return left
}
