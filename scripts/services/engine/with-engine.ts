import { chooseEngine, startEngine } from './engine.ts'
import type { Installation } from '../installation/installation.ts'
import { findOwnEngine, stopOwnEngine } from './own-engine.ts'
import type { Progress } from '../terminal/progress.ts'
import { provideCompiler } from '../packages/provide-compiler.ts'

/**
 * The engine that `up` would use, and what compiles the init for it, for as long as `work` takes; one of ours that did not
 * run before is stopped again.
 */
export async function withEngine<T>(
  installation: Installation,
  progress: Progress,
  work: (dockerHost: string) => Promise<T>,
): Promise<T> {
  await provideCompiler(installation, progress)
  const choice = await chooseEngine(installation, progress)
  const isStartedHere = choice.kind === 'own' && (await findOwnEngine(installation)) === undefined
  try {
    const { dockerHost } = await startEngine(installation, choice, progress)
    return await work(dockerHost)
  } finally {
    if (isStartedHere) await stopOwnEngine(installation)
  }
}
