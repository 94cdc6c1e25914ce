import { provideNetworkPrograms } from '../../network/provide-network-programs.ts'
import { setUpNetwork } from '../../network/set-up-network.ts'
import { takeDownNetwork } from '../../network/take-down-network.ts'
import { prepareDataDir } from '../../services/installation/data-dir.ts'
import type { Installation } from '../../services/installation/installation.ts'
import { withLock } from '../../services/installation/lock.ts'
import type { Progress } from '../../services/terminal/progress.ts'
import { readLiveState } from '../../services/supervisor/state.ts'
import { withEngine } from '../../services/engine/with-engine.ts'

const lockWaitMs = 60_000

/**
 * What a tool needs to be built and run, and nothing else: the engine and the network of the installation. Where it does
 * not run, they are there for as long as `work` takes.
 */
export async function withGround<T>(
  installation: Installation,
  progress: Progress,
  work: (dockerHost: string) => Promise<T>,
): Promise<T> {
  prepareDataDir(installation)
  const { paths, id, config } = installation
  const running = readLiveState(paths.state)
  if (running?.phase === 'ready' && running.engine !== undefined) return work(running.engine.dockerHost)
  // Held meanwhile, so that an `up` does not go on with what is about to be taken down.
  const turn = { waitMs: lockWaitMs, what: 'Another ./yard works on this installation' }
  return withLock(paths.lock, turn, async () => {
    await provideNetworkPrograms(installation, progress)
    return withEngine(installation, progress, async (dockerHost) => {
      try {
        await progress.step('Setting up the network for tools', () =>
          setUpNetwork({ id, dockerHost, allow: config.egressAllow ?? [] }),
        )
        return await work(dockerHost)
      } finally {
        await takeDownNetwork(id, [dockerHost])
      }
    })
  })
}
