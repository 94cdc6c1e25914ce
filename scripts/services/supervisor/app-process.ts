import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Environment } from '@toolyard/config/load'
import { hasEnded, identityOf } from '../machine/process-identity.ts'
import type { AppName, AppState } from './state.ts'

// One app under supervision: started, started again with growing pauses when it dies, stopped on request.

export type AppOptions = {
  name: AppName
  root: string
  environment: Environment
  /** Restart on changes of the source. */
  watch: boolean
  onLine: (line: string) => void
  onChange: (state: AppState) => void
}

export type AppProcess = {
  state(): AppState
  /** Asks the app to drain, and ends it by force after `graceMs` or as soon as `hurry` is aborted. */
  stop(graceMs: number, hurry: AbortSignal): Promise<void>
}

const firstPauseMs = 500
const longestPauseMs = 30_000
/** An app that lived this long was well; the next crash is a first one again. */
const wellAfterMs = 60_000

export const restartPauseMs = (crashCount: number) =>
  Math.min(firstPauseMs * 2 ** (crashCount - 1), longestPauseMs)

export function startApp(options: AppOptions): AppProcess {
  let state: AppState = { phase: 'starting', startedAt: new Date().toISOString(), restarts: 0 }
  let child: ChildProcess | undefined
  let crashCount = 0
  let restart: NodeJS.Timeout | undefined

  const change = (next: Partial<AppState>) => {
    state = { ...state, ...next }
    options.onChange(state)
  }
  const start = () => {
    const aliveSince = performance.now()
    const started = spawnApp(options)
    child = started
    const identity = started.pid === undefined ? undefined : identityOf(started.pid)
    change({ phase: 'starting', startedAt: new Date().toISOString(), ...(identity && { process: identity }) })
    started.on('message', (message) => isReadyMessage(message) && change({ phase: 'ready' }))
    const end = (how: string) => {
      if (child !== started) return
      child = undefined
      if (state.phase === 'stopped') return
      crashCount = performance.now() - aliveSince > wellAfterMs ? 1 : crashCount + 1
      const pauseMs = restartPauseMs(crashCount)
      options.onLine(
        supervisorLine(
          options.name,
          `${options.name} ended (${how}); starting it again in ${pauseMs / 1000} s`,
        ),
      )
      change({ phase: 'crashed', restarts: state.restarts + 1 })
      restart = setTimeout(start, pauseMs)
    }
    started.once('error', (error) => end(error.message))
    started.once('exit', (code, signal) => end(signal ?? `exit code ${code}`))
  }
  start()

  return {
    state: () => state,
    async stop(graceMs, hurry) {
      clearTimeout(restart)
      const running = child
      change({ phase: 'stopped' })
      if (running?.pid !== undefined) await endApp(running, running.pid, graceMs, hurry)
    },
  }
}

/** A line of the supervisor's own in an app's log, of the form that the apps write. */
export const supervisorLine = (service: string, message: string, level = 'error') =>
  JSON.stringify({ level, time: new Date().toISOString(), service, message })

function spawnApp({ name, root, environment, watch, onLine }: AppOptions): ChildProcess {
  const args = [
    ...(watch ? ['--watch', '--watch-preserve-output'] : []),
    join(root, 'apps', name, 'src/main.ts'),
  ]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: environment,
    // A session of its own: Ctrl-C on the terminal reaches the supervisor alone, which then asks the apps to drain.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  for (const stream of [child.stdout, child.stderr]) if (stream !== null) eachLine(stream, onLine)
  return child
}

function eachLine(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Infinity }).on('line', onLine)
}

async function endApp(child: ChildProcess, pid: number, graceMs: number, hurry: AbortSignal): Promise<void> {
  const identity = identityOf(pid)
  if (identity === undefined) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const timeout = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, graceMs)
    hurry.addEventListener('abort', () => resolve())
    child.once('exit', () => clearTimeout(timer))
  })
  child.kill('SIGTERM')
  if (!hurry.aborted) await Promise.race([ended, timeout])
  killGroup(pid)
  await hasEnded(identity, 5_000)
}

/** The process and what it started. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

const isReadyMessage = (message: unknown) =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready'
