import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../terminal/failure.ts'

/** Written beside its place and renamed, so that a reader, or a crash, never meets half a file. */
export function writeFileAtomic(path: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, text, { mode })
  renameSync(draft, path)
}

export const writeJson = (path: string, value: unknown) =>
  writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`)

/** Undefined when there is no such file or it is not JSON of the expected shape. */
export function readJson<T>(path: string, parse: (value: unknown) => T | undefined): T | undefined {
  try {
    return parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR')
      return undefined
    throw error
  }
}
