import { join } from 'node:path'
import { Failure } from '../services/failure.ts'
import { findProgram } from '../services/find-program.ts'
import type { Installation } from '../services/installation.ts'
import { isRoot } from '../services/is-root.ts'
import { installPackages } from '../services/packages.ts'
import type { Progress } from '../services/progress.ts'

const packageOf: Record<string, string> = { nft: 'nftables', ip: 'iproute2' }

/** What the filter of the tools' network needs, where it can be had; may ask a person. Without it the filter is off. */
export async function provideNetworkPrograms(
  { paths }: Pick<Installation, 'paths'>,
  progress: Progress,
): Promise<void> {
  if (!isRoot()) return
  const missing = Object.keys(packageOf).filter((name) => findProgram(name) === undefined)
  if (missing.length === 0) return
  const request = {
    packages: missing.map((name) => packageOf[name] ?? name),
    purpose: `What filters the network of tools (${missing.join(', ')})`,
    otherwise: 'tools with a network reach this host and private addresses',
    log: join(paths.logs, 'apt.log'),
  }
  try {
    await installPackages(request, progress)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    progress.note(error.message)
  }
}
