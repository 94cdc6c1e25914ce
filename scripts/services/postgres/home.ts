import { join } from 'node:path'
import type { Installation } from '../installation/installation.ts'
import { logFile } from '../installation/installation.ts'
import type { PostgresHome } from './record.ts'

/** The installation's database. */
export const postgresHome = (installation: Installation): PostgresHome => ({
  installationId: installation.id,
  name: 'postgres',
  folder: installation.paths.postgres,
  record: installation.paths.postgresRecord,
  log: logFile(installation, 'postgres'),
  settings: [],
})

/** The database server of `./yard test`. What it holds is worth nothing, so it need not reach the disk. */
export const testPostgresHome = (installation: Installation): PostgresHome => ({
  installationId: installation.id,
  name: 'test-postgres',
  folder: join(installation.paths.test, 'postgres'),
  record: join(installation.paths.test, 'postgres.json'),
  log: join(installation.paths.test, 'postgres.log'),
  settings: ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=400'],
})
