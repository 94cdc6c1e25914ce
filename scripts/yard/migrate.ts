import { parseArgs } from 'node:util'
import { openInstallation } from '../services/installation/installation.ts'
import { migrateDatabase } from '../services/database/migrate-database.ts'
import { createProgress, createRenderer } from '../services/terminal/progress.ts'
import { withDatabase } from '../services/database/with-database.ts'

export async function migrate(args: string[]): Promise<number> {
  parseArgs({ args, options: {} })
  const progress = createProgress(createRenderer().show)
  const applied = await withDatabase(openInstallation(), progress, (url) => migrateDatabase(url, progress))
  console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`)
  return 0
}
