import { join } from 'node:path'
import type { EngineChoice } from './engine.ts'
import { Failure } from './failure.ts'
import { findProgram } from './find-program.ts'
import type { Installation } from './installation.ts'
import { installPackages } from './packages.ts'
import type { Progress } from './progress.ts'

/**
 * What makes the Debian under the bases of tools where no registry answers. It belongs to an engine of our own, as the
 * engine's other needs do; on another's engine the tools that lack it say so.
 */
export async function provideDebianMaker(
  { paths }: Pick<Installation, 'paths'>,
  engine: EngineChoice,
  progress: Progress,
): Promise<void> {
  if (engine.kind !== 'own' || findProgram('mmdebstrap') !== undefined) return
  const request = {
    packages: ['mmdebstrap'],
    purpose: 'What makes a Debian base image where no registry answers',
    otherwise: 'load the image debian:bookworm-slim into the engine',
    log: join(paths.logs, 'apt.log'),
  }
  try {
    await installPackages(request, progress)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    progress.note(error.message)
  }
}
