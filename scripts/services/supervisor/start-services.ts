import type { ToolNetworkState } from '../../network/set-up-network.ts'
import { setUpNetwork } from '../../network/set-up-network.ts'
import { addressOf, waitForDatabase } from '../database/database.ts'
import type { EngineChoice } from '../engine/engine.ts'
import { startEngine } from '../engine/engine.ts'
import type { Installation } from '../installation/installation.ts'
import { startPostgres } from '../postgres/own-postgres.ts'
import { postgresHome } from '../postgres/home.ts'
import type { Progress } from '../terminal/progress.ts'
import { waitForRedis } from '../redis/redis.ts'
import type { SupervisorState } from './state.ts'

export type RunningServices = {
  databaseUrl: string
  dockerHost: string
  network: ToolNetworkState
  /** As the state file has it; with a process where the service is ours. */
  described: Required<Pick<SupervisorState, 'database' | 'engine' | 'network'>>
}

const externalWaitMs = 15_000

/** Starts what is ours to start and waits for what is not. */
export async function startServices(
  installation: Installation,
  engine: EngineChoice,
  progress: Progress,
  stop: AbortSignal,
): Promise<RunningServices> {
  const database = await startDatabase(installation, progress, stop)
  stop.throwIfAborted()
  const { redisUrl } = installation.config
  if (redisUrl !== undefined) {
    const url = redisUrl.reveal()
    await progress.step(`Waiting for the Redis at ${addressOf(url)}`, () =>
      waitForRedis(url, externalWaitMs, stop),
    )
  }
  stop.throwIfAborted()
  const started = await startEngine(installation, engine, progress)
  stop.throwIfAborted()
  const { dockerHost } = started
  const network = await progress.step('Setting up the network for tools', () =>
    setUpNetwork({ id: installation.id, dockerHost, allow: installation.config.egressAllow ?? [] }),
  )
  stop.throwIfAborted()
  if (network.reason !== undefined)
    progress.note(
      `Tools with a network reach its host and private addresses (egress filter off): ${network.reason}`,
    )
  if (network.warning !== undefined) progress.note(`The network for tools: ${network.warning}`)
  return {
    databaseUrl: database.databaseUrl,
    dockerHost,
    network,
    described: {
      database: database.described,
      engine: { kind: engine.kind, ...started },
      network: summariseNetwork(network),
    },
  }
}

export function summariseNetwork({ network, reason, warning }: ToolNetworkState) {
  const { name, bridge, egressFilter } = network
  return { name, bridge, egressFilter, ...(reason && { reason }), ...(warning && { warning }) }
}

/** The database that the installation's settings ask for; answers when this returns. */
export async function startDatabase(
  installation: Installation,
  progress: Progress,
  stop: AbortSignal,
): Promise<{ databaseUrl: string; described: NonNullable<SupervisorState['database']> }> {
  const { databaseUrl } = installation.config
  if (databaseUrl !== undefined) {
    const url = databaseUrl.reveal()
    const address = addressOf(url)
    await progress.step(`Waiting for the database at ${address}`, () =>
      waitForDatabase(url, externalWaitMs, stop),
    )
    return { databaseUrl: url, described: { kind: 'named', address } }
  }
  const own = await progress.step('Starting Postgres', () => startPostgres(postgresHome(installation)))
  const described = {
    kind: 'own',
    address: addressOf(own.url),
    folder: own.folder,
    process: own.identity,
  } as const
  return { databaseUrl: own.url, described }
}
