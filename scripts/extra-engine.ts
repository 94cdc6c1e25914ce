import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from './services/machine/find-program.ts'
import { pathsIn } from './services/installation/installation.ts'
import { startOwnEngine, stopOwnEngine } from './services/engine/own-engine.ts'
import { installPackages } from './services/packages/install-packages.ts'
import { createProgress } from './services/terminal/progress.ts'

// A second engine, for tests: prints its address, and ends with its stdin, so that it never outlives the test that wanted
// it. With `gvisor` it is one that knows gVisor.

const wantsGvisor = process.argv[2] === 'gvisor'
const folder = mkdtempSync(join(tmpdir(), 'toolyard-engine-'))
const place = { id: createHash('sha256').update(folder).digest('hex').slice(0, 10), paths: pathsIn(folder) }
mkdirSync(place.paths.logs)
try {
  if (wantsGvisor && findProgram('runsc') === undefined) {
    const otherwise = 'install runsc from https://gvisor.dev'
    const log = join(place.paths.logs, 'packages.log')
    const request = { packages: ['runsc'], purpose: 'gVisor', otherwise, log }
    await installPackages(
      request,
      createProgress(() => {}),
    )
  }
  console.log((await startOwnEngine(place)).dockerHost)
  await once(process.stdin.resume(), 'end')
} finally {
  await stopOwnEngine(place)
  rmSync(folder, { recursive: true, force: true })
}
