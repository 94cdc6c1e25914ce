import type { Installation } from '../installation/installation.ts'
import { prepareDataDir } from '../installation/data-dir.ts'
import { withLock } from '../installation/lock.ts'
import { findPostgres, stopPostgres } from '../postgres/own-postgres.ts'
import { postgresHome } from '../postgres/home.ts'
import type { Progress } from '../terminal/progress.ts'
import { startDatabase } from '../supervisor/start-services.ts'

/** Gives `work` the installation's database; an embedded one that does not run is started for it and stopped after. */
export async function withDatabase<T>(
  installation: Installation,
  progress: Progress,
  work: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  const home = postgresHome(installation)
  const never = new AbortController().signal
  const isOwn = installation.config.databaseUrl === undefined
  if (!isOwn || findPostgres(home) !== undefined) {
    return work((await startDatabase(installation, progress, never)).databaseUrl)
  }
  prepareDataDir(installation)
  // Held meanwhile, so that an `up` does not go on with a database that is about to be stopped.
  const options = { waitMs: 60_000, what: 'Another ./yard works on this installation' }
  return withLock(installation.paths.lock, options, async () => {
    try {
      return await work((await startDatabase(installation, progress, never)).databaseUrl)
    } finally {
      await stopPostgres(home)
    }
  })
}
