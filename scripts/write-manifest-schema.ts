import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { manifestSchema } from '@toolyard/contract/manifest-schema'

// Writes tools/manifest.schema.json anew, after the manifest was changed. A test of libs/contract compares them.

const path = 'tools/manifest.schema.json'
writeFileSync(join(import.meta.dirname, '..', path), manifestSchema())
console.log(`Written: ${path}`)
