import { parseArgs } from 'node:util'
import { openInstallation } from '../services/installation.ts'
import { migrateDatabase } from '../services/prepare-database.ts'
import { createProgress, createRenderer } from '../services/progress.ts'
import { withDatabase } from '../services/with-database.ts'

export async function migrate(args: string[]): Promise<number> {
  parseArgs({ args, options: {} })
  const progress = createProgress(createRenderer().show)
  const applied = await withDatabase(openInstallation(), progress, (url) => migrateDatabase(url, progress))
  console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`)
  return 0
}
