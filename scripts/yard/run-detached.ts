import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../services/terminal/failure.ts'
import { logFile } from '../services/installation/installation.ts'
import type { ProgressEvent } from '../services/terminal/progress.ts'
import { openLogDescriptor } from '../services/logs/rotating-log.ts'
import type { SupervisorState } from '../services/supervisor/state.ts'
import { listenForStop } from './stop-signals.ts'
import type { Run } from './up.ts'

/** What the detached supervisor tells the process that started it, until it is ready. */
export type Report =
  | { type: 'progress'; event: ProgressEvent }
  | { type: 'ready'; state: SupervisorState }
  | { type: 'failed'; message: string; expected: boolean }

const interruptedAtStart = 130

/** A process of its own is the supervisor; this one shows its progress and returns once it is ready. */
export const runDetached: Run = async ({ installation, engine, renderer, onReady }) => {
  const log = openLogDescriptor(logFile(installation, 'supervisor'))
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../supervise.ts'), JSON.stringify(engine)],
    {
      cwd: installation.root,
      env: installation.environment,
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    },
  )
  closeSync(log)
  const signals = listenForStop(() => void child.kill('SIGTERM'))
  signals.hurry.addEventListener('abort', () => void child.kill('SIGTERM'))
  let failure: Extract<Report, { type: 'failed' }> | undefined
  const outcome = await new Promise<SupervisorState | 'ended'>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => resolve('ended'))
    // safe because only supervise.ts writes to this channel
    child.on('message', (message) => {
      const report = message as Report
      if (report.type === 'progress') renderer.show(report.event)
      if (report.type === 'failed') failure = report
      if (report.type === 'ready') resolve(report.state)
    })
  })
  signals.dispose()
  if (outcome !== 'ended') {
    child.disconnect()
    child.unref()
    // Ctrl-C ends only the showing from here on.
    await onReady(outcome, new AbortController().signal)
    return 0
  }
  if (signals.stop.aborted) return interruptedAtStart
  const details = `see ${logFile(installation, 'supervisor')}`
  if (failure === undefined) throw new Failure(`The supervisor ended before it was ready: ${details}`)
  throw failure.expected ? new Failure(failure.message) : new Error(`${failure.message} (${details})`)
}
