import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { codeOf } from '../terminal/failure.ts'

const readMax = 1024 * 1024

/** The last lines of a file, reading at most its last MiB. No file, no lines. */
export function tailLines(path: string, count: number): string[] {
  try {
    const file = openSync(path, 'r')
    try {
      const size = fstatSync(file).size
      const buffer = Buffer.alloc(Math.min(size, readMax))
      readSync(file, buffer, 0, buffer.length, size - buffer.length)
      const lines = buffer.toString('utf8').split('\n')
      if (lines.at(-1) === '') lines.pop()
      return count === 0 ? [] : lines.slice(-count)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
