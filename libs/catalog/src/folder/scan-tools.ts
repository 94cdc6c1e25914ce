import { setTimeout as delay } from 'node:timers/promises'
import type { FileFault, FolderFault, FoundTool } from './found-tool.ts'
import { hashTools } from './hash-context.ts'
import type { ToolFolder } from './list-folders.ts'
import { listFolders } from './list-folders.ts'
import { mapLimited } from './map-limited.ts'
import type { ToolReading } from './read-tool.ts'
import { readTool } from './read-tool.ts'

const toolsAtOnce = 16

export type ScanOptions = {
  /** What else goes into every image, as in `hashContext`. */
  extra: readonly string[]
  /** A folder that was written to less than this ago is not read yet. */
  settleMs?: number
  /** How long such folders are waited for. */
  patienceMs?: number
  signal?: AbortSignal
}

export type Scan = {
  tools: readonly FoundTool[]
  faults: readonly FolderFault[]
  /** Neither tools nor faults yet, and not gone: what was known of them stands until the next scan. */
  unsettled: readonly ToolFolder[]
  /** Of all tools together. */
  contentHash: string
}

type Read = { folder: ToolFolder; reading: ToolReading }

/** All tools of some directories, and all that is wrong with the others. One bad folder never stops the rest. */
export async function scanTools(
  dirs: readonly string[],
  { extra, settleMs = 200, patienceMs = 2_000, signal }: ScanOptions,
): Promise<Scan> {
  const listed = await listFolders(dirs)
  const readAll = (folders: readonly ToolFolder[]) =>
    mapLimited(folders, toolsAtOnce, async (folder): Promise<Read> => {
      signal?.throwIfAborted()
      return { folder, reading: await readTool(folder, { extra, settleMs }) }
    })
  const deadline = performance.now() + patienceMs
  let reads = await readAll(listed.folders)
  while (reads.some(isUnsettled) && performance.now() < deadline) {
    await delay(settleMs, undefined, { signal })
    const again = await readAll(reads.filter(isUnsettled).map(({ folder }) => folder))
    reads = [...reads.filter((read) => !isUnsettled(read)), ...again]
  }
  return sumUp(reads, listed.faults)
}

const isUnsettled = ({ reading }: Read) => reading.state === 'unsettled'

function sumUp(reads: readonly Read[], listFaults: readonly FolderFault[]): Scan {
  const tools: FoundTool[] = []
  const faults = [...listFaults]
  const unsettled: ToolFolder[] = []
  const present = reads.filter(({ reading }) => reading.state !== 'gone')
  for (const { folder, reading } of present) {
    const twins = present.filter((other) => other.folder.name === folder.name && other.folder !== folder)
    const found = [...(reading.state === 'faults' ? reading.faults : []), ...twins.map(twinFault)]
    if (found.length > 0) faults.push({ folder: folder.name, dir: folder.dir, faults: found })
    else if (reading.state === 'tool') tools.push(reading.tool)
    else unsettled.push(folder)
  }
  tools.sort((a, b) => (a.name < b.name ? -1 : 1))
  faults.sort((a, b) => (a.dir < b.dir ? -1 : 1))
  unsettled.sort((a, b) => (a.dir < b.dir ? -1 : 1))
  return { tools, faults, unsettled, contentHash: hashTools(tools) }
}

// Which of them is meant, nobody here can know; and the first of two would change with the order of the directories.
function twinFault({ folder }: Read): FileFault {
  return { file: '.', detail: `there is a second tool of this name in ${folder.dir}: rename one of them` }
}
