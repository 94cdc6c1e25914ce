import { existsSync } from 'node:fs'
import { probeEngine } from '@toolyard/sandbox/engine'
import { listToolInstances, removeToolNetworks } from '@toolyard/sandbox/tool-network'
import { findProgram } from '../services/machine/find-program.ts'
import { isRoot } from '../services/machine/is-root.ts'
import { withLock } from '../services/installation/lock.ts'
import { removeFilter } from './filter.ts'
import { removeMachineFolder, stopForwarding } from './forwarding.ts'
import { findLink } from './host-network.ts'
import { networkNames } from './network-names.ts'
import { runProgram } from './run-program.ts'
import { machineLock, machineTurn } from './set-up-network.ts'

/** Leaves no network, bridge or rule of the installation, also where an engine that was killed left them. */
export async function takeDownNetwork(id: string, dockerHosts: readonly string[]): Promise<void> {
  for (const dockerHost of new Set(dockerHosts))
    if ((await probeEngine(dockerHost)).state === 'ready') await removeToolNetworks(dockerHost, id)
  if (!isRoot() || findProgram('ip') === undefined) return
  await withLock(machineLock, machineTurn, async () => {
    const names = networkNames(id)
    // The bridge before its rules: it never exists without.
    if ((await findLink(names.bridge)) !== undefined)
      await runProgram('ip', ['link', 'delete', 'dev', names.bridge])
    await removeFilter(names)
    await stopForwarding()
  })
  if (existsSync(machineLock)) return
  removeMachineFolder()
}

/** The networks of every installation and test on an engine that is ours alone. */
export async function takeDownEngineNetworks(dockerHost: string): Promise<void> {
  for (const id of await listToolInstances(dockerHost)) await takeDownNetwork(id, [dockerHost])
}
