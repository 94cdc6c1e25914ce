import { chooseEngine, startEngine } from './engine.ts'
import type { Installation } from './installation.ts'
import { findOwnEngine, stopOwnEngine } from './own-engine.ts'
import type { Progress } from './progress.ts'

/** The engine that `up` would use, for as long as `work` takes; one of ours that did not run before is stopped again. */
export async function withEngine<T>(
  installation: Installation,
  progress: Progress,
  work: (dockerHost: string) => Promise<T>,
): Promise<T> {
  const choice = await chooseEngine(installation, progress)
  const isStartedHere = choice.kind === 'own' && (await findOwnEngine(installation)) === undefined
  try {
    const { dockerHost } = await startEngine(installation, choice, progress)
    return await work(dockerHost)
  } finally {
    if (isStartedHere) await stopOwnEngine(installation)
  }
}
