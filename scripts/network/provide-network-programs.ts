import { logFile } from '../services/installation/installation.ts'
import type { Installation } from '../services/installation/installation.ts'
import { isRoot } from '../services/machine/is-root.ts'
import type { Progress } from '../services/terminal/progress.ts'
import { provideOrNote } from '../services/packages/provide-or-note.ts'

/** What the filter of the tools' network needs. Without it, and for others than root, the filter is off. */
export async function provideNetworkPrograms(
  installation: Pick<Installation, 'paths'>,
  progress: Progress,
): Promise<void> {
  if (!isRoot()) return
  const need = {
    programs: { nft: ['nftables'], ip: ['iproute2'] },
    purpose: 'What filters the network of tools',
    otherwise: 'tools with a network reach this host and private addresses',
    log: logFile(installation, 'apt'),
  }
  await provideOrNote(need, progress)
}
