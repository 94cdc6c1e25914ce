import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** True while more work is runnable on this machine than there are cores. Where the system does not say, false. */
export function isCoreWanted(): boolean {
  try {
    const runnable = /(\d+)\/\d+/.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1]
    // Whoever asks is running too.
    return runnable !== undefined && Number(runnable) - 1 > availableParallelism()
  } catch {
    // safe to ignore because a system without this file (a developer's Mac) only refills a little too eagerly
    return false
  }
}
