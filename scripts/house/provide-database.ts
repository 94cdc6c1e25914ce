import { join } from 'node:path'
import type { Installation } from '../services/installation/installation.ts'
import { migrateDatabase } from '../services/database/migrate-database.ts'
import { startPostgres, stopPostgres } from '../services/postgres/own-postgres.ts'
import type { PostgresHome } from '../services/postgres/record.ts'
import type { Progress } from '../services/terminal/progress.ts'

export type HouseDatabase = {
  databaseUrl: string
  restartPostgres(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>
}

/** A Postgres of the house's own, migrated. */
export async function provideDatabase(
  { instance, paths }: { instance: string; paths: Installation['paths'] },
  closing: AsyncDisposableStack,
  { postgresSettings, progress }: { postgresSettings: readonly string[]; progress: Progress },
): Promise<HouseDatabase> {
  const home: PostgresHome = {
    installationId: instance,
    name: 'postgres',
    folder: paths.postgres,
    record: paths.postgresRecord,
    log: join(paths.logs, 'postgres.log'),
    settings: postgresSettings,
  }
  closing.defer(async () => void (await stopPostgres(home)))
  const { url } = await progress.step('Starting a Postgres for it', () => startPostgres(home))
  await migrateDatabase(url, progress)
  return {
    databaseUrl: url,
    async restartPostgres(signal) {
      await stopPostgres(home, [
        { signal, graceMs: 15_000 },
        { signal: 'SIGKILL', graceMs: 5_000 },
      ])
      const again = await startPostgres(home)
      if (again.url !== url) throw new Error('Postgres came back at another address')
    },
  }
}
