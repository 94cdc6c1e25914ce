import { logFile } from '../installation/installation.ts'
import type { Installation } from '../installation/installation.ts'
import type { Progress } from '../terminal/progress.ts'
import { provideOrNote } from './provide-or-note.ts'

/** What compiles the init of the sandboxes. Without it everything starts, and the worker says why it is not ready. */
export async function provideCompiler(
  installation: Pick<Installation, 'paths'>,
  progress: Progress,
): Promise<void> {
  const need = {
    programs: { cc: ['gcc', 'libc6-dev'] },
    purpose: 'A C compiler',
    otherwise: 'tools cannot be built',
    log: logFile(installation, 'apt'),
  }
  await provideOrNote(need, progress)
}
