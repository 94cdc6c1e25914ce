import { restartPauseMs } from '../services/supervisor/app-process.ts'
import { messageOf } from '../services/terminal/failure.ts'
import type { InstalledFilter } from './filter.ts'
import { closeBridge, cutBridge, filterFaults, installFilter } from './filter.ts'
import { findLink } from './host-network.ts'
import type { NetworkPlace, ToolNetworkState } from './set-up-network.ts'
import { setUpNetwork } from './set-up-network.ts'

// Firewalls are reloaded and rules flushed by people who think of something else. What is missing of the filter is put
// back; where that fails, the bridge is cut: no network is better than one without its filter.

export type NetworkKeeperOptions = {
  place: NetworkPlace
  state: ToolNetworkState
  share: (state: ToolNetworkState) => void
  say: (message: string, level: 'info' | 'error') => void
}

const checkPauseMs = 2_000

export function createNetworkKeeper({ place, state, share, say }: NetworkKeeperOptions) {
  let current = state
  let notBeforeMs = 0
  let failureCount = 0

  const mend = async (filter: InstalledFilter): Promise<ToolNetworkState> => {
    // First by what is known, which needs no engine to answer.
    if ((await findLink(filter.names.bridge)) !== undefined) {
      const installed = await installFilter(filter)
      await closeBridge(filter.names)
      if ((await faultsOf(installed)).length === 0) return { ...current, filter: installed }
    }
    return setUpNetwork(place)
  }

  return {
    async tick(nowMs: number): Promise<void> {
      const { filter } = current
      if (filter === undefined || nowMs < notBeforeMs) return
      notBeforeMs = nowMs + checkPauseMs
      const faults = await faultsOf(filter)
      if (faults.length === 0) return
      say(`The filter of the tools' network: ${faults.join(', ')}; putting it right`, 'error')
      try {
        current = await mend(filter)
        share(current)
        failureCount = 0
        say("The filter of the tools' network is as it has to be", 'info')
      } catch (error) {
        failureCount++
        notBeforeMs = nowMs + restartPauseMs(failureCount)
        say(`The tools' network is cut off until its filter is back: ${messageOf(error)}`, 'error')
        if ((await findLink(filter.names.bridge)) !== undefined) await cutBridge(filter.names)
      }
    },
  }
}

const faultsOf = (filter: InstalledFilter) =>
  filterFaults(filter).catch((error: unknown) => [`it cannot be looked at (${messageOf(error)})`])
