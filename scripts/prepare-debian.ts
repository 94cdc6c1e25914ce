import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basePackages } from '@toolyard/catalog/provide-debian'
import { prepareDebian } from './services/engine/prepare-debian.ts'
import { withLock } from './services/installation/lock.ts'
import { createProgress } from './services/terminal/progress.ts'

// Puts the Debian under a base of tools/_base on an engine and prints its name, for tests. A program because tests
// import nothing from here; under a lock because test files run side by side and making it takes half a minute.

const [dockerHost, base] = process.argv.slice(2)
if (dockerHost === undefined || base === undefined || !basePackages.has(base)) {
  throw new Error(`usage: node prepare-debian.ts DOCKER_HOST ${[...basePackages.keys()].join('|')}`)
}
const folder = join(tmpdir(), 'toolyard-test')
mkdirSync(folder, { recursive: true })
const turn = { waitMs: 300_000, what: 'Another test makes a Debian base image' }
const name = await withLock(join(folder, 'debian.lock'), turn, () =>
  prepareDebian(
    { dockerHost, base, log: join(folder, 'debian.log') },
    createProgress(() => {}),
  ),
)
console.log(name)
