import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { explainFileError, isOwnTrouble } from './explain-file-error.ts'
import type { FolderFault } from './found-tool.ts'

export type ToolFolder = { name: string; dir: string }

/** The folders that should be tools. One that is a link is taken where it leads; a directory named twice counts once. */
export async function listFolders(
  dirs: readonly string[],
): Promise<{ folders: ToolFolder[]; faults: FolderFault[] }> {
  const folders: ToolFolder[] = []
  const faults: FolderFault[] = []
  const seen = new Set<string>()
  for (const dir of dirs) {
    const read = await readDirectory(dir)
    if ('detail' in read) faults.push({ dir, faults: [{ file: '.', detail: read.detail }] })
    else if (!seen.has(read.path)) {
      for (const entry of read.entries) await addFolder(dir, entry, { folders, faults })
      seen.add(read.path)
    }
  }
  return { folders, faults }
}

async function readDirectory(dir: string): Promise<{ path: string; entries: Dirent[] } | { detail: string }> {
  try {
    return { path: await realpath(dir), entries: await readdir(dir, { withFileTypes: true }) }
  } catch (error) {
    if (isOwnTrouble(error)) throw error
    return { detail: `a directory of tools that cannot be read: ${explainFileError(error)}` }
  }
}

async function addFolder(
  parent: string,
  entry: Dirent,
  { folders, faults }: { folders: ToolFolder[]; faults: FolderFault[] },
): Promise<void> {
  const { name } = entry
  const dir = join(parent, name)
  const refuse = (detail: string) => faults.push({ folder: name, dir, faults: [{ file: '.', detail }] })
  if (name.startsWith('_') || name.startsWith('.')) return
  if (!entry.isDirectory() && !entry.isSymbolicLink()) return
  if (name.includes('\uFFFD')) {
    refuse('its name is not UTF-8')
    return
  }
  try {
    if (entry.isDirectory() || (await stat(dir)).isDirectory()) folders.push({ name, dir })
  } catch (error) {
    if (isOwnTrouble(error)) throw error
    refuse(`is a link that leads nowhere: ${explainFileError(error)}`)
  }
}
