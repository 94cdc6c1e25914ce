import { join } from 'node:path'
import { Failure } from './failure.ts'
import { findProgram } from './find-program.ts'
import type { Installation } from './installation.ts'
import { installPackages } from './packages.ts'
import type { Progress } from './progress.ts'

/** What compiles the init of the sandboxes. Without it everything starts, and the worker says why it is not ready. */
export async function provideCompiler(
  { paths }: Pick<Installation, 'paths'>,
  progress: Progress,
): Promise<void> {
  if (findProgram('cc') !== undefined) return
  const request = {
    packages: ['gcc', 'libc6-dev'],
    purpose: 'A C compiler',
    otherwise: 'tools cannot be built',
    log: join(paths.logs, 'apt.log'),
  }
  try {
    await installPackages(request, progress)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    progress.note(error.message)
  }
}
