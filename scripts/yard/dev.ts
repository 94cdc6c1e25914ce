import { parseArgs } from 'node:util'
import { runInForeground } from './run-in-foreground.ts'
import { startInstallation } from './up.ts'

export async function dev(args: string[]): Promise<number> {
  parseArgs({ args, options: {} })
  return startInstallation(runInForeground({ watch: true, pretty: true }))
}
