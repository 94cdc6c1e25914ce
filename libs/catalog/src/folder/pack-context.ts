import { createHash } from 'node:crypto'
import { readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { tarEnd, tarHeader, tarPadding } from '@toolyard/sandbox/tar-blocks'
import { ContextChanged } from './context-changed.ts'
import { fileErrorCode } from './explain-file-error.ts'
import type { ContextEntry, FoundTool } from './found-tool.ts'
import { readChunks } from './read-chunks.ts'

/**
 * The build context as a tar stream: exactly what the tool's hash names, or a stream that fails with `ContextChanged`
 * before it is a whole archive. Whoever stops reading destroys it.
 */
export function packContext(tool: Pick<FoundTool, 'dir' | 'entries'>): Readable {
  return Readable.from(pack(tool), { objectMode: false })
}

async function* pack({ dir, entries }: Pick<FoundTool, 'dir' | 'entries'>): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    try {
      yield* packEntry(dir, entry)
    } catch (error) {
      if (error instanceof ContextChanged) throw changed(entry.path, error)
      // Whatever keeps a file from being read now did not when it was hashed.
      if (fileErrorCode(error) === undefined) throw error
      throw changed(entry.path, error)
    }
  }
  yield tarEnd()
}

async function* packEntry(dir: string, entry: ContextEntry): AsyncGenerator<Buffer> {
  const file = join(dir, entry.path)
  if (entry.type === 'directory' && !(await stat(file)).isDirectory()) throw changed(entry.path)
  if (entry.type === 'link' && (await readlink(file)) !== entry.target) throw changed(entry.path)
  yield tarHeader(entry.type === 'file' ? { ...entry, mode: entry.executable ? 0o755 : 0o644 } : entry)
  if (entry.type !== 'file') return
  const digest = createHash('sha256')
  // One behind, so that a file that turns out to be another is never sent whole.
  let held: Buffer | undefined
  for await (const chunk of readChunks(file, entry.size, entry.executable)) {
    if (held) yield held
    digest.update(chunk)
    held = chunk
  }
  if (digest.digest('hex') !== entry.digest) throw changed(entry.path)
  if (held) yield held
  yield tarPadding(entry.size)
}

function changed(path: string, cause?: unknown): ContextChanged {
  return new ContextChanged(path, 'was changed while it was being built: read the tools again', { cause })
}
