import { readFileSync } from 'node:fs'
import { becomes } from './becomes.ts'

/** A pid alone may by now belong to somebody else; with its start time it names one process for ever. */
export type ProcessIdentity = { pid: number; startTime: string }

export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTime = readStartTime(pid)
  return startTime === undefined ? undefined : { pid, startTime }
}

export const isAlive = (process: ProcessIdentity) => readStartTime(process.pid) === process.startTime

/** Sends the signals one after the other, giving the process `graceMs` after each. True when it is gone. */
export async function endProcess(
  target: ProcessIdentity,
  steps: readonly { signal: NodeJS.Signals; graceMs: number }[],
): Promise<boolean> {
  for (const { signal, graceMs } of steps) {
    if (!sendSignal(target, signal)) return true
    if (await hasEnded(target, graceMs)) return true
  }
  return !isAlive(target)
}

/** False when there was nobody to send it to. */
export function sendSignal(target: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(target)) return false
  try {
    process.kill(target.pid, signal)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

export const hasEnded = (target: ProcessIdentity, withinMs: number): Promise<boolean> =>
  becomes(() => !isAlive(target), withinMs)

export function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean)
  } catch {
    // safe to ignore because a process that cannot be read is gone or not ours
    return []
  }
}

// A zombie counts as gone: where nothing reaps orphans it would stay in the table for ever.
function readStartTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    // safe to ignore because no entry means no process
    return undefined
  }
}
