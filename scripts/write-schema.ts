import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dumpSchema } from '@toolyard/db/dump-schema'
import { prepareDataDir } from './services/installation/data-dir.ts'
import { openInstallation, projectRoot } from './services/installation/installation.ts'
import { createProgress, createRenderer } from './services/terminal/progress.ts'
import { withScratchDatabase } from './services/database/scratch-database.ts'

// Writes libs/db/schema.sql anew, after a migration was added. A test of libs/db compares it with the migrations.

const file = join(projectRoot, 'libs/db/schema.sql')
const installation = openInstallation()
prepareDataDir(installation)
writeFileSync(
  file,
  await withScratchDatabase(installation, createProgress(createRenderer().show), dumpSchema),
)
console.log(`Written: ${file}`)
