import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// sbin is not on the PATH of every user, and that is where daemons live.
const systemFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/bin']

export const systemPath = systemFolders.join(delimiter)

export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean), ...systemFolders]
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // safe to ignore because "not there" is the answer
    return false
  }
}
