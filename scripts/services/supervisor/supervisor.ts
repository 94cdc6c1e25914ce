import { setTimeout as delay } from 'node:timers/promises'
import { provideAdminKey } from '../database/admin-key.ts'
import type { AppProcess } from './app-process.ts'
import { startApp, supervisorLine } from './app-process.ts'
import type { EngineChoice } from '../engine/engine.ts'
import { Failure, messageOf } from '../terminal/failure.ts'
import type { Installation } from '../installation/installation.ts'
import { apiUrl, logFile } from '../installation/installation.ts'
import { createKeeper } from './keeper.ts'
import { formatLogLine } from '../logs/log-line.ts'
import { migrateDatabase } from '../database/migrate-database.ts'
import { identityOf } from '../machine/process-identity.ts'
import type { Progress } from '../terminal/progress.ts'
import type { ReadinessAnswer } from './readiness.ts'
import { waitForReadiness } from './readiness.ts'
import type { RotatingLog } from '../logs/rotating-log.ts'
import { openRotatingLog } from '../logs/rotating-log.ts'
import type { RunningServices } from './start-services.ts'
import { startServices } from './start-services.ts'
import { stopServices } from './stop-services.ts'
import type { AppName, SupervisorState } from './state.ts'
import { appNames, removeState, stateFormat, writeState } from './state.ts'
import { tailLines } from '../logs/tail.ts'

// The process that holds an installation together: starts the services and the apps in order, keeps them running,
// and takes everything down in the opposite order. What it knows stands in the state file, for the other commands.

export type SupervisorOptions = {
  installation: Installation
  engine: EngineChoice
  watch: boolean
  progress: Progress
  /** Each line that an app, or the supervisor itself, writes. */
  print: (service: string, line: string) => void
  onReady: (state: SupervisorState) => void
  /** Ends it, politely. */
  stop: AbortSignal
  /** Ends the politeness. */
  hurry: AbortSignal
}

const readyTimeoutMs = 60_000
const crashesMax = 3
const tickMs = 1_000

/** Runs until `stop`, then takes everything down. Throws, with everything taken down, when it does not become ready. */
export async function supervise(options: SupervisorOptions): Promise<void> {
  const { installation, stop, hurry, progress } = options
  const state = beginState(installation)
  const journal = openJournal(options)
  const share = (change: Partial<SupervisorState>) => {
    try {
      writeState(installation.paths.state, Object.assign(state, change))
    } catch (error) {
      // A disk that is full makes `status` old; it must not take the services down.
      journal.say(`the state file cannot be written: ${messageOf(error)}`, 'error')
    }
  }
  let apps: AppProcess[] = []
  try {
    share({})
    const services = await startServices(installation, options.engine, progress, stop)
    share(services.described)
    await migrateDatabase(services.databaseUrl, progress)
    share({ adminKey: await provideAdminKey(services.databaseUrl, installation.paths.adminKey) })
    stop.throwIfAborted()
    apps = startApps(options, services, journal, (name, app) =>
      share({ apps: { ...state.apps, [name]: app } }),
    )
    await progress.step('Starting api, worker and scheduler', () => waitUntilReady(options, apps))
    share({ phase: 'ready' })
    journal.say('Toolyard is ready', 'info')
    options.onReady(state)
    await keepRunning(options, services, share, journal)
  } catch (error) {
    if (!stop.aborted) throw error
  } finally {
    share({ phase: 'stopping' })
    const graceMs = (installation.config.drainSeconds + 5) * 1_000
    await progress.step('Stopping', async () => {
      await Promise.all(apps.map((app) => app.stop(graceMs, hurry)))
      await stopServices(installation)
    })
    removeState(installation.paths.state)
    journal.say('Toolyard has stopped', 'info')
    await journal.close()
  }
}

function beginState(installation: Installation): SupervisorState {
  const identity = identityOf(process.pid)
  if (identity === undefined) throw new Error('this process cannot read its own start time')
  return {
    ...identity,
    format: stateFormat,
    phase: 'starting',
    startedAt: new Date().toISOString(),
    url: apiUrl(installation.config),
    queue: installation.config.redisUrl === undefined ? 'postgres' : 'redis',
    apps: {},
  }
}

type Journal = {
  write: (service: string, line: string) => void
  say: (message: string, level: 'info' | 'error') => void
  close: () => Promise<void>
}

function openJournal({ installation, print }: SupervisorOptions): Journal {
  const open = (service: string): [string, RotatingLog] => [
    service,
    openRotatingLog(logFile(installation, service)),
  ]
  const logs = new Map([...appNames, 'supervisor'].map(open))
  const write = (service: string, line: string) => {
    logs.get(service)?.write(line)
    print(service, line)
  }
  return {
    write,
    say: (message, level) => write('supervisor', supervisorLine('supervisor', message, level)),
    close: async () => void (await Promise.all([...logs.values()].map((log) => log.close()))),
  }
}

function startApps(
  options: SupervisorOptions,
  services: RunningServices,
  journal: Journal,
  onChange: (name: AppName, state: ReturnType<AppProcess['state']>) => void,
): AppProcess[] {
  const { installation, watch } = options
  const { DATABASE_URL_FILE: _file, ...inherited } = installation.environment
  const environment = {
    ...inherited,
    DATABASE_URL: services.databaseUrl,
    DOCKER_HOST: services.dockerHost,
    YARD_DATA_DIR: installation.dataDir,
    YARD_INSTANCE: installation.id,
    YARD_TOOL_DIRS: installation.toolDirs.join(','),
    ...(watch ? { YARD_WATCH_TOOLS: 'yes' } : {}),
  }
  return appNames.map((name) =>
    startApp({
      name,
      root: installation.root,
      environment,
      watch,
      onLine: (line) => journal.write(name, line),
      onChange: (state) => onChange(name, state),
    }),
  )
}

async function waitUntilReady({ installation, stop }: SupervisorOptions, apps: AppProcess[]): Promise<void> {
  const dying = () => appNames.filter((_, index) => (apps[index]?.state().restarts ?? 0) >= crashesMax)
  const giveUp = () => stop.aborted || dying().length > 0
  const answer = await waitForReadiness(apiUrl(installation.config), { timeoutMs: readyTimeoutMs, giveUp })
  stop.throwIfAborted()
  if (!answer.ready) throw new Failure(describeUnready(installation, answer, apps, dying()))
}

function describeUnready(
  installation: Installation,
  answer: ReadinessAnswer,
  apps: AppProcess[],
  dying: AppName[],
): string {
  const silent = appNames.filter((_, index) => apps[index]?.state().phase !== 'ready')
  const suspects = dying.length > 0 ? dying : silent
  const what =
    dying.length > 0
      ? `${dying.join(' and ')} ended ${crashesMax} times at the start`
      : `Toolyard is not ready after ${readyTimeoutMs / 1_000} s: ${answer.detail}`
  const tails = suspects.map((name) => {
    const path = logFile(installation, name)
    const lines = tailLines(path, 10).map((line) => formatLogLine(line, { colour: false, brief: true }))
    return `The end of ${path}:\n${lines.map((line) => `  ${line}`).join('\n')}`
  })
  return [what, ...tails].join('\n')
}

async function keepRunning(
  { installation, stop }: SupervisorOptions,
  services: RunningServices,
  share: (change: Partial<SupervisorState>) => void,
  journal: Journal,
): Promise<void> {
  const keeper = createKeeper({
    installation,
    services,
    share,
    say: journal.say,
  })
  while (!stop.aborted) {
    await delay(tickMs, undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) return
    await keeper
      .tick(performance.now())
      .catch((error: unknown) =>
        journal.say(`looking after the services failed: ${messageOf(error)}`, 'error'),
      )
  }
}
