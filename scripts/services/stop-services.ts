import { readHolder } from './lock.ts'
import type { Installation } from './installation.ts'
import { stopOwnEngine } from './own-engine.ts'
import { stopPostgres } from './postgres.ts'
import { postgresHome } from './postgres-home.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { isAlive } from './process-identity.ts'

/** Stops the database and the engine that are ours, whoever started them. Gives the names of what it stopped. */
export async function stopServices(installation: Installation): Promise<string[]> {
  const [postgres, engine] = await Promise.all([
    stopPostgres(postgresHome(installation)),
    // A test run shares the engine, and stops it when it is the last.
    testRun(installation) === undefined ? stopOwnEngine(installation) : false,
  ])
  return [...(postgres ? ['Postgres'] : []), ...(engine ? ['the Docker engine'] : [])]
}

/** The `./yard test` that runs on this installation's services now. */
export function testRun(installation: Installation): ProcessIdentity | undefined {
  const holder = readHolder(installation.paths.testLock)
  return holder !== undefined && isAlive(holder) ? holder : undefined
}
