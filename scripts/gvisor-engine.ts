import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from './services/find-program.ts'
import { pathsIn } from './services/installation.ts'
import { startOwnEngine, stopOwnEngine } from './services/own-engine.ts'
import { installPackages } from './services/packages.ts'
import { createProgress } from './services/progress.ts'

// An engine that knows gVisor, for the hostile suite where the tests' engine does not: prints its address, and ends
// with its stdin, so that it never outlives the test that wanted it.

const folder = mkdtempSync(join(tmpdir(), 'toolyard-gvisor-'))
const place = { id: createHash('sha256').update(folder).digest('hex').slice(0, 10), paths: pathsIn(folder) }
mkdirSync(place.paths.logs)
try {
  if (findProgram('runsc') === undefined) {
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
