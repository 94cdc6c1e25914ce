import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareDebian } from './services/base-image.ts'
import { withLock } from './services/lock.ts'
import { createProgress } from './services/progress.ts'

// Puts the Debian under tools/_base/python on an engine and prints its name, for the hostile suite. A program because
// tests import nothing from here; under a lock because test files run side by side and making it takes half a minute.

const [dockerHost] = process.argv.slice(2)
if (dockerHost === undefined) throw new Error('usage: node prepare-debian.ts DOCKER_HOST')
const folder = join(tmpdir(), 'toolyard-test')
mkdirSync(folder, { recursive: true })
const turn = { waitMs: 300_000, what: 'Another test makes a Debian base image' }
const name = await withLock(join(folder, 'debian.lock'), turn, () =>
  prepareDebian(
    { dockerHost, base: 'python', log: join(folder, 'debian.log') },
    createProgress(() => {}),
  ),
)
console.log(name)
