import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export type ExtraEngine = { dockerHost: string; close: () => Promise<void> }

/** A Docker engine beside the one that tests share, for what needs two, or one that knows gVisor. */
export async function openExtraEngine(kind: 'plain' | 'gvisor'): Promise<ExtraEngine> {
  const program = join(import.meta.dirname, '../../../scripts/extra-engine.ts')
  const child = spawn(process.execPath, [program, kind], { stdio: ['pipe', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (chunk) => (complaint += String(chunk)))
  const ended = once(child, 'close')
  const begun = once(child.stdout, 'data')
  const first = await Promise.race([begun, ended.then(() => undefined)])
  if (first === undefined) throw new Error(`no ${kind} engine could be started: ${complaint}`)
  return {
    dockerHost: String(first[0]).trim(),
    async close() {
      child.stdin.end()
      await ended
    },
  }
}
