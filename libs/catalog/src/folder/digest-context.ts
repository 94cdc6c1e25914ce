import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { ContextChanged } from './context-changed.ts'
import { explainFileError, isGone, isOwnTrouble } from './explain-file-error.ts'
import type { ContextEntry, FileFault } from './found-tool.ts'
import { mapLimited } from './map-limited.ts'
import { readChunks } from './read-chunks.ts'
import type { ListedEntry } from './read-context.ts'

const filesAtOnce = 4

/** The entries with what is in their files. */
export async function digestContext(
  dir: string,
  listed: readonly ListedEntry[],
): Promise<{ entries: ContextEntry[]; faults: FileFault[] }> {
  const faults: FileFault[] = []
  const digested = await mapLimited(listed, filesAtOnce, async (entry): Promise<ContextEntry | undefined> => {
    if (entry.type !== 'file') return entry
    try {
      return { ...entry, digest: await digestFile(join(dir, entry.path), entry) }
    } catch (error) {
      if (isGone(error)) throw new ContextChanged(entry.path, 'is gone')
      if (error instanceof ContextChanged || isOwnTrouble(error)) throw error
      faults.push({ file: entry.path, detail: `cannot be read: ${explainFileError(error)}` })
      return undefined
    }
  })
  return { entries: digested.filter((entry) => entry !== undefined), faults }
}

async function digestFile(
  file: string,
  { size, executable }: { size: number; executable: boolean },
): Promise<string> {
  const digest = createHash('sha256')
  for await (const chunk of readChunks(file, size, executable)) digest.update(chunk)
  return digest.digest('hex')
}
