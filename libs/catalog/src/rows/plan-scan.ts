import type { Manifest } from '@toolyard/contract/manifest'

// What a reading of the folders changes, decided without a database.

export type ScannedTool = { name: string; hash: string; manifest: Manifest }

/** Why a folder is no tool, one line for each fault. */
export type ScannedFault = { folder: string; faults: readonly string[] }

export type ScannedFolders = {
  tools: readonly ScannedTool[]
  faults: readonly ScannedFault[]
  /** Folders that changed while they were read: neither tools nor faults yet, and not gone. */
  unsettled: readonly string[]
  /** A directory of tools could not be read: what is not found may still be there. */
  isPartial?: boolean
}

export type ToolRow = {
  name: string
  wanted_hash: string | null
  current_hash: string | null
  refused_hash: string | null
  faults: readonly string[]
  is_removed: boolean
}

/** `hasImage`: whether some engine has an image of that version, as after a change that was taken back. */
export function planScan(
  rows: readonly ToolRow[],
  scan: ScannedFolders,
  hasImage: (tool: string, hash: string) => boolean,
): ToolRow[] {
  const before = new Map(rows.map((row) => [row.name, row]))
  const found = new Set<string>(scan.unsettled)
  const rowOf = (name: string): ToolRow => {
    const row = before.get(name) ?? unknown(name)
    // While its folder was away its images may have been removed.
    const isLost = row.is_removed && row.current_hash !== null && !hasImage(name, row.current_hash)
    return isLost ? { ...row, current_hash: null } : row
  }
  const after: ToolRow[] = []
  for (const { folder, faults } of scan.faults) {
    found.add(folder)
    after.push({ ...rowOf(folder), faults, is_removed: false })
  }
  for (const { name, hash } of scan.tools) {
    found.add(name)
    const row = rowOf(name)
    const refused = row.refused_hash === hash ? hash : null
    const serves = refused === null && hasImage(name, hash)
    after.push({
      name,
      wanted_hash: hash,
      current_hash: serves ? hash : row.current_hash,
      refused_hash: refused,
      faults: [],
      is_removed: false,
    })
  }
  for (const row of rows) {
    // What runs stays named: what was accepted before the folder went is still served.
    const isGone = scan.isPartial !== true && !found.has(row.name)
    if (isGone) after.push({ ...row, wanted_hash: null, faults: [], is_removed: true })
  }
  return after.filter((row) => !isSame(row, before.get(row.name)))
}

const unknown = (name: string): ToolRow => ({
  name,
  wanted_hash: null,
  current_hash: null,
  refused_hash: null,
  faults: [],
  is_removed: false,
})

function isSame(a: ToolRow, b: ToolRow | undefined): boolean {
  return (
    b !== undefined &&
    a.wanted_hash === b.wanted_hash &&
    a.current_hash === b.current_hash &&
    a.refused_hash === b.refused_hash &&
    a.is_removed === b.is_removed &&
    JSON.stringify(a.faults) === JSON.stringify(b.faults)
  )
}
