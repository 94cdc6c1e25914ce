import type { FileHandle } from 'node:fs/promises'
import { constants, open } from 'node:fs/promises'
import { ContextChanged } from './context-changed.ts'

const chunkBytes = 256 * 1024

/**
 * The bytes of a regular file that has `size` of them; fails when it turns out to be anything else. It neither follows
 * a symbolic link nor waits for a fifo's writer, whatever took the file's place since it was listed.
 */
export async function* readChunks(file: string, size: number, executable?: boolean): AsyncGenerator<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new ContextChanged(file, 'is no longer a regular file')
    if (executable !== undefined && isExecutable(stats.mode) !== executable)
      throw new ContextChanged(file, 'has other permissions now')
    yield* readAll(handle, file, size)
  } finally {
    await handle.close()
  }
}

/** What of a file's permissions has a meaning in a build: what its owner may execute, everybody may. */
export const isExecutable = (mode: number | bigint) => (Number(mode) & constants.S_IXUSR) !== 0

async function* readAll(handle: FileHandle, file: string, size: number): AsyncGenerator<Buffer> {
  let read = 0
  for (;;) {
    // One byte more than it should have shows a file that has grown.
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size - read + 1))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length)
    read += bytesRead
    if (read > size || (bytesRead === 0 && read < size))
      throw new ContextChanged(file, 'has another size now')
    if (bytesRead > 0) yield buffer.subarray(0, bytesRead)
    // It had room for a byte more, and there was none.
    if (read === size && bytesRead < buffer.length) return
  }
}
