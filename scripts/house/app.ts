import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '@toolyard/config/load'
import { projectRoot } from '../services/installation/installation.ts'
import { openLogDescriptor } from '../services/logs/rotating-log.ts'
import type { AppName } from '../services/supervisor/state.ts'

export type AppEnd = { code: number | null; signal: NodeJS.Signals | null }

/** One of the three apps as a process of its own, to be killed, stopped and started again by who holds it. */
export type App = {
  readonly name: string
  start(): void
  pid(): number
  signal(signal: NodeJS.Signals): void
  /** When the process that runs now says that it is ready; fails if it ends before. */
  ready(): Promise<void>
  /** How the process that was started last ends. */
  ended(): Promise<AppEnd>
  isRunning(): boolean
}

export type AppOptions = { kind: AppName; name: string; environment: Environment; logs: string }

export function createApp({ kind, name, environment, logs }: AppOptions): App {
  const program = join(projectRoot, 'apps', kind, 'src/main.ts')
  const log = join(logs, `${name}.log`)
  let process: { child: ChildProcess; ended: Promise<AppEnd>; ready: Promise<void> } | undefined

  function current() {
    if (process === undefined) throw new Error(`${name} was never started`)
    return process
  }

  function start(): void {
    const output = openLogDescriptor(log)
    const child = spawn(globalThis.process.execPath, [program], {
      cwd: projectRoot,
      env: environment,
      // A Ctrl-C on the terminal is for who holds it. The channel makes it end when that one is gone.
      detached: true,
      stdio: ['ignore', output, output, 'ipc'],
    })
    closeSync(output)
    const ended = new Promise<AppEnd>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
    })
    const gone = ended.then((end) => {
      throw new Error(`${name} ended (${end.signal ?? end.code}) before it was ready: see ${log}`)
    })
    const ready = Promise.race([new Promise<void>((resolve) => child.once('message', () => resolve())), gone])
    // Whoever kills it does not wait for it.
    ready.catch(() => {})
    gone.catch(() => {})
    process = { child, ended, ready }
  }

  return {
    name,
    start,
    pid: () => current().child.pid ?? 0,
    signal: (signal) => void current().child.kill(signal),
    ready: () => current().ready,
    ended: () => current().ended,
    isRunning: () =>
      process !== undefined && process.child.exitCode === null && process.child.signalCode === null,
  }
}
