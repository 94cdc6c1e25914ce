import { Failure } from '../terminal/failure.ts'
import { findProgram } from '../machine/find-program.ts'
import { installPackages } from './install-packages.ts'
import type { Progress } from '../terminal/progress.ts'

export type Need = {
  /** Each program with the packages that bring it. */
  programs: Readonly<Record<string, readonly string[]>>
  purpose: string
  otherwise: string
  log: string
}

/** For what everything starts without: installs what is missing, which may ask a person, or says that it is. */
export async function provideOrNote(need: Need, progress: Progress): Promise<void> {
  const { programs, purpose, otherwise, log } = need
  const missing = Object.entries(programs).filter(([name]) => findProgram(name) === undefined)
  if (missing.length === 0) return
  const request = {
    packages: missing.flatMap(([, packages]) => packages),
    purpose: `${purpose} (${missing.map(([name]) => name).join(', ')})`,
    otherwise,
    log,
  }
  try {
    await installPackages(request, progress)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    progress.note(error.message)
  }
}
