import { formatLogLine, prefixed } from '../services/logs/log-line.ts'
import { supervise } from '../services/supervisor/supervisor.ts'
import { listenForStop } from './stop-signals.ts'
import type { Run } from './up.ts'

const interruptedAtStart = 130

/** This process is the supervisor, and shows what the apps write. */
export function runInForeground({ watch, pretty }: { watch: boolean; pretty: boolean }): Run {
  return async ({ installation, engine, renderer, progress, onReady }) => {
    const colour = process.stdout.isTTY && process.stdout.hasColors()
    const signals = listenForStop()
    let wasReady = false
    let showing: Promise<void> | undefined
    await supervise({
      installation,
      engine,
      watch,
      progress,
      print: (service, line) =>
        renderer.print(prefixed(service, pretty ? formatLogLine(line, { colour }) : line, { colour })),
      onReady: (state) => {
        wasReady = true
        showing = onReady(state, signals.stop)
      },
      stop: signals.stop,
      hurry: signals.hurry,
    })
    await showing
    signals.dispose()
    return wasReady ? 0 : interruptedAtStart
  }
}
