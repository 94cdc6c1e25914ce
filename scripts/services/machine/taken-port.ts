import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { codeOf } from '../terminal/failure.ts'
import { commandLine } from './process-identity.ts'

/** Undefined when the port can be listened on, else the error's code. */
export async function whyPortIsTaken(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port, exclusive: true }, resolve)
    })
    return undefined
  } catch (error) {
    return codeOf(error) ?? 'unknown reason'
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
}

/** Who listens on a TCP port, as `name (pid N)`, where this user may see it. */
export function portHolder(port: number): string | undefined {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeningInodes(table, port)))
  if (inodes.size === 0) return undefined
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    if (openSockets(entry).some((inode) => inodes.has(inode))) {
      const name = commandLine(Number(entry)).slice(0, 2).join(' ')
      return `${name.slice(0, 80)} (pid ${entry})`
    }
  }
  return undefined
}

function listeningInodes(table: string, port: number): string[] {
  const listening = '0A'
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  try {
    const rows = readFileSync(table, 'utf8').split('\n').slice(1)
    const fields = rows.map((row) => row.trim().split(/\s+/))
    return fields.flatMap(([, local, , state, , , , , , inode]) =>
      state === listening && local?.endsWith(suffix) && inode !== undefined ? [inode] : [],
    )
  } catch {
    // safe to ignore because the name of the holder is a courtesy
    return []
  }
}

function openSockets(pid: string): string[] {
  return list(`/proc/${pid}/fd`).flatMap(
    (fd) => /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${fd}`))?.[1] ?? [],
  )
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // safe to ignore because a process that ends meanwhile, or belongs to another user, cannot be named
    return []
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // safe to ignore because a descriptor that is closed meanwhile holds no port
    return ''
  }
}
