import { defaultDockerHost } from '@toolyard/sandbox/engine'
import { takeDownNetwork } from '../../network/take-down-network.ts'
import { enginePaths } from '../engine/paths.ts'
import { readHolder } from '../installation/lock.ts'
import type { Installation } from '../installation/installation.ts'
import { stopOwnEngine } from '../engine/own-engine.ts'
import { stopPostgres } from '../postgres/own-postgres.ts'
import { postgresHome } from '../postgres/home.ts'
import type { ProcessIdentity } from '../machine/process-identity.ts'
import { isAlive } from '../machine/process-identity.ts'
import { readLastState } from './state.ts'

/** Stops the database and the engine that are ours, whoever started them. Gives the names of what it stopped. */
export async function stopServices(installation: Installation): Promise<string[]> {
  const [postgres, engine] = await Promise.all([
    stopPostgres(postgresHome(installation)),
    stopEngine(installation),
  ])
  return [...(postgres ? ['Postgres'] : []), ...(engine ? ['the Docker engine'] : [])]
}

async function stopEngine(installation: Installation): Promise<boolean> {
  const takenDown = await Promise.allSettled([
    takeDownNetwork(installation.id, possibleEngines(installation)),
  ])
  // A test run shares the engine, and stops it when it is the last.
  const stopped = testRun(installation) === undefined ? await stopOwnEngine(installation) : false
  for (const result of takenDown) if (result.status === 'rejected') throw result.reason
  return stopped
}

/** Where the network for tools may have been made, also when nobody is left who remembers. */
function possibleEngines(installation: Installation): string[] {
  const { config, paths } = installation
  const last = readLastState(paths.state)?.engine?.dockerHost
  const candidates = [
    `unix://${enginePaths(installation).socket}`,
    last,
    config.dockerHost,
    defaultDockerHost,
  ]
  return candidates.filter((candidate) => candidate !== undefined)
}

/** The `./yard test` that runs on this installation's services now. */
export function testRun(installation: Installation): ProcessIdentity | undefined {
  const holder = readHolder(installation.paths.testLock)
  return holder !== undefined && isAlive(holder) ? holder : undefined
}
