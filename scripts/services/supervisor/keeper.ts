import { createNetworkKeeper } from '../../network/keep-network.ts'
import { restartPauseMs } from './app-process.ts'
import { messageOf } from '../terminal/failure.ts'
import type { Installation } from '../installation/installation.ts'
import { logFile } from '../installation/installation.ts'
import { watchForHang } from '../engine/hang-watch.ts'
import { startOwnEngine } from '../engine/own-engine.ts'
import { startPostgres } from '../postgres/own-postgres.ts'
import { postgresHome } from '../postgres/home.ts'
import type { ProcessIdentity } from '../machine/process-identity.ts'
import { isAlive } from '../machine/process-identity.ts'
import { trimLog } from '../logs/rotating-log.ts'
import type { RunningServices } from './start-services.ts'
import { summariseNetwork } from './start-services.ts'
import type { SupervisorState } from './state.ts'

// Brings back the database and the engine when they are ours and have died, the engine also when it hangs, and the filter
// of the tools' network. The apps wait for them meanwhile.

export type KeeperOptions = {
  installation: Installation
  services: RunningServices
  share: (change: Partial<SupervisorState>) => void
  say: (message: string, level: 'info' | 'error') => void
}

export type Keeper = { tick(nowMs: number): Promise<void> }

export function createKeeper({ installation, services, share, say }: KeeperOptions): Keeper {
  let { database, engine } = services.described
  const keepPostgres = createRevival(say, 'Postgres', async () => {
    const revived = await startPostgres(postgresHome(installation))
    database = { ...database, process: revived.identity }
    share({ database })
    // The apps were given the address once; a new port would leave them looking at the old one.
    if (revived.url !== services.databaseUrl) {
      throw new Error('another program has taken its port: ./yard down, then ./yard up')
    }
  })
  const hang = watchForHang(services.dockerHost)
  const keepEngine = createRevival(say, 'The Docker engine', async () => {
    engine = { ...engine, ...(await startOwnEngine(installation)) }
    hang.forget()
    share({ engine })
  })
  const network = createNetworkKeeper({
    place: {
      id: installation.id,
      dockerHost: services.dockerHost,
      allow: installation.config.egressAllow ?? [],
    },
    state: services.network,
    share: (state) => share({ network: summariseNetwork(state) }),
    say,
  })
  return {
    async tick(nowMs) {
      await network.tick(nowMs)
      if (hasDied(database.process)) await keepPostgres(nowMs)
      if (engine.process !== undefined) hang.look(nowMs)
      if (hasDied(engine.process) || hang.isHung()) await keepEngine(nowMs)
      for (const service of ['postgres', 'engine']) trimLog(logFile(installation, service))
    },
  }
}

const hasDied = (process: ProcessIdentity | undefined) => process !== undefined && !isAlive(process)

/** Tries at once, then with growing pauses while it fails. */
function createRevival(say: KeeperOptions['say'], what: string, start: () => Promise<void>) {
  let failureCount = 0
  let notBeforeMs = 0
  return async (nowMs: number) => {
    if (nowMs < notBeforeMs) return
    say(`${what} is gone or hangs; starting it again`, 'error')
    try {
      await start()
      failureCount = 0
      say(`${what} is back`, 'info')
    } catch (error) {
      failureCount++
      notBeforeMs = nowMs + restartPauseMs(failureCount)
      say(`${what} does not come back: ${messageOf(error)}`, 'error')
    }
  }
}
