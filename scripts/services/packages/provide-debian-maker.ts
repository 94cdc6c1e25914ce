import type { EngineChoice } from '../engine/engine.ts'
import { logFile } from '../installation/installation.ts'
import type { Installation } from '../installation/installation.ts'
import type { Progress } from '../terminal/progress.ts'
import { provideOrNote } from './provide-or-note.ts'

/**
 * What makes the Debian under the bases of tools where no registry answers. It belongs to an engine of our own, as the
 * engine's other needs do; on another's engine the tools that lack it say so.
 */
export async function provideDebianMaker(
  installation: Pick<Installation, 'paths'>,
  engine: EngineChoice,
  progress: Progress,
): Promise<void> {
  if (engine.kind !== 'own') return
  const need = {
    programs: { mmdebstrap: ['mmdebstrap'] },
    purpose: 'What makes a Debian base image where no registry answers',
    otherwise: 'load the image debian:bookworm-slim into the engine',
    log: logFile(installation, 'apt'),
  }
  await provideOrNote(need, progress)
}
