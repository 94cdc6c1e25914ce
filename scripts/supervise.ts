import type { EngineChoice } from './services/engine/engine.ts'
import { explain, messageOf } from './services/terminal/failure.ts'
import { openInstallation } from './services/installation/installation.ts'
import { createProgress } from './services/terminal/progress.ts'
import { supervise } from './services/supervisor/supervisor.ts'
import type { Report } from './yard/run-detached.ts'
import { listenForStop } from './yard/stop-signals.ts'

// The detached supervisor. Reports to the `./yard up --detach` that started it until it is ready; if that one goes
// away before, nobody wants it any more and it stops.

const tell = (report: Report) => void (process.connected && process.send?.(report))

let isReady = false
const signals = listenForStop()
const abandoned = new AbortController()
process.once('disconnect', () => !isReady && abandoned.abort())

try {
  await supervise({
    installation: openInstallation(),
    // safe because run-detached.ts, which starts this program, writes it
    engine: JSON.parse(process.argv[2] ?? '') as EngineChoice,
    watch: false,
    progress: createProgress((event) => tell({ type: 'progress', event })),
    print: () => {},
    onReady: (state) => {
      isReady = true
      tell({ type: 'ready', state })
    },
    stop: AbortSignal.any([signals.stop, abandoned.signal]),
    hurry: signals.hurry,
  })
  process.exitCode = 0
} catch (error) {
  const explanation = explain(error)
  if (explanation === undefined) console.error(error)
  tell({ type: 'failed', message: explanation ?? messageOf(error), expected: explanation !== undefined })
  process.exitCode = 1
}
// The channel to the one that started it is no reason to live on.
if (process.connected) process.disconnect()
