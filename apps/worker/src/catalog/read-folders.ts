import { describeFault } from '@toolyard/catalog/describe-fault'
import type { ScannedFolders } from '@toolyard/catalog/plan-scan'
import type { Scan } from '@toolyard/catalog/scan-tools'
import type { Part } from '@toolyard/service/part'

/** What the rows of the catalogue take from a reading of the folders. */
export function toScannedFolders({ tools, faults, unsettled }: Scan): ScannedFolders {
  // Two directories may each have a folder of one name. Where they are is not everybody's business.
  const byFolder = new Map<string, string[]>()
  for (const { folder, faults: own } of faults) {
    if (folder === undefined) continue
    const lines = own.map((fault) => describeFault(folder, fault))
    byFolder.set(folder, [...(byFolder.get(folder) ?? []), ...lines])
  }
  const named = Array.from(byFolder, ([folder, lines]) => ({ folder, faults: lines }))
  const isPartial = faults.some(({ folder }) => folder === undefined)
  return { tools, faults: named, unsettled: unsettled.map(({ name }) => name), isPartial }
}

/** How the folders stand in readyz. A tool that is broken is its author's matter, and no fault of this worker. */
export function describeFolders({ tools, faults }: Scan, differs: boolean): Part {
  const unread = faults.flatMap(({ folder, faults: own }) => (folder === undefined ? own : []))
  const [first] = unread
  if (first !== undefined) return { state: 'missing', detail: `a directory of tools: ${first.detail}` }
  const broken = faults.length === 0 ? '' : `, ${faults.length} broken`
  const others = differs ? '; another worker has other tools' : ''
  return { state: 'ready', detail: `${tools.length} tools${broken}${others}` }
}
