import { lstat } from 'node:fs/promises'
import { ContextChanged } from './context-changed.ts'
import { explainFileError, fileErrorCode, isGone, isOwnTrouble } from './explain-file-error.ts'
import { readChunks } from './read-chunks.ts'

const fileBytesMax = 256 * 1024

export type SmallFile =
  | { state: 'read'; bytes: Buffer }
  | { state: 'missing' }
  | { state: 'refused'; detail: string }

/** A file that an author wrote by hand. Looked at before it is opened: what is no regular file may do anything. */
export async function readSmallFile(file: string): Promise<SmallFile> {
  try {
    const stats = await lstat(file)
    if (!stats.isFile()) return { state: 'refused', detail: 'must be a regular file' }
    if (stats.size > fileBytesMax)
      return { state: 'refused', detail: `has ${stats.size} bytes: at most ${fileBytesMax} are allowed` }
    return { state: 'read', bytes: Buffer.concat(await Array.fromAsync(readChunks(file, stats.size))) }
  } catch (error) {
    if (error instanceof ContextChanged || isOwnTrouble(error)) throw error
    if (isGone(error)) return { state: 'missing' }
    // It was a regular file a moment ago.
    if (['ELOOP', 'ENXIO'].includes(fileErrorCode(error) ?? ''))
      throw new ContextChanged(file, 'has been replaced')
    return { state: 'refused', detail: `cannot be read: ${explainFileError(error)}` }
  }
}
