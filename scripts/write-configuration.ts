import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationPage, envExample } from '@toolyard/config/describe'

// Writes .env.example and docs/configuration.md anew, after a setting was changed. A test of libs/config compares them.

const root = join(import.meta.dirname, '..')
const files = { '.env.example': envExample(), 'docs/configuration.md': configurationPage() }
for (const [path, text] of Object.entries(files)) {
  writeFileSync(join(root, path), text)
  console.log(`Written: ${path}`)
}
