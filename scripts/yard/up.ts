import { parseArgs } from 'node:util'
import { provideNetworkPrograms } from '../network/provide-network-programs.ts'
import { changedSettings } from '../services/supervisor/changed-settings.ts'
import { provideCompiler } from '../services/packages/provide-compiler.ts'
import { provideDebianMaker } from '../services/packages/provide-debian-maker.ts'
import { prepareDataDir } from '../services/installation/data-dir.ts'
import type { EngineChoice } from '../services/engine/engine.ts'
import { chooseEngine } from '../services/engine/engine.ts'
import { Failure } from '../services/terminal/failure.ts'
import { portHolder, whyPortIsTaken } from '../services/machine/taken-port.ts'
import type { Installation } from '../services/installation/installation.ts'
import { openInstallation } from '../services/installation/installation.ts'
import { stopLeftoverApps } from '../services/supervisor/leftover-apps.ts'
import { acquireLock } from '../services/installation/lock.ts'
import type { Progress, Renderer } from '../services/terminal/progress.ts'
import { createProgress, createRenderer } from '../services/terminal/progress.ts'
import { askReadiness } from '../services/supervisor/readiness.ts'
import { summaryOf } from '../services/supervisor/summary.ts'
import type { SupervisorState } from '../services/supervisor/state.ts'
import { readLiveState } from '../services/supervisor/state.ts'
import { callExample } from './call-example.ts'
import { runDetached } from './run-detached.ts'
import { runInForeground } from './run-in-foreground.ts'

const lockWaitMs = 180_000
const otherStartMs = 120_000

export async function up(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { detach: { type: 'boolean', short: 'd', default: false } } })
  return values.detach
    ? startInstallation(runDetached)
    : startInstallation(runInForeground({ watch: false, pretty: false }))
}

export type Run = (start: {
  installation: Installation
  engine: EngineChoice
  renderer: Renderer
  progress: Progress
  /** Called as soon as another command may work on this installation. What it shows last takes until it resolves. */
  onReady: (state: SupervisorState, signal: AbortSignal) => Promise<void>
}) => Promise<number>

/** What comes before anything runs: settings, folder, port, engine. Then `run` has it. */
export async function startInstallation(run: Run): Promise<number> {
  const installation = openInstallation()
  const renderer = createRenderer()
  const progress = createProgress(renderer.show)
  prepareDataDir(installation)
  const release = await progress.step('Waiting for another ./yard that works on this installation', () =>
    acquireLock(installation.paths.lock, {
      waitMs: lockWaitMs,
      what: 'Another ./yard works on this installation',
    }),
  )
  try {
    const running = await progress.step('Waiting for the running supervisor', () =>
      settledState(installation),
    )
    if (running !== undefined) {
      await refuseUnready(running)
      console.log([summaryOf(installation, running), ...describeChanges(installation, running)].join('\n'))
      return 0
    }
    await progress.step('Waiting for what a killed supervisor left', () => stopLeftoverApps(installation))
    await refuseTakenPort(installation)
    const engine = await chooseEngine(installation, progress)
    await provideNetworkPrograms(installation, progress)
    await provideCompiler(installation, progress)
    await provideDebianMaker(installation, engine, progress)
    const onReady = async (state: SupervisorState, signal: AbortSignal) => {
      release()
      renderer.print(summaryOf(installation, state))
      if (state.adminKey === 'in-file') await callExample({ installation, renderer, progress, signal })
    }
    return await run({ installation, engine, renderer, progress, onReady })
  } finally {
    release()
  }
}

/** A supervisor that is ready, or none: one that is just starting or stopping is waited for. */
async function settledState(installation: Installation): Promise<SupervisorState | undefined> {
  const deadline = performance.now() + otherStartMs
  for (;;) {
    const state = readLiveState(installation.paths.state)
    if (state === undefined || state.phase === 'ready') return state
    if (performance.now() > deadline) {
      throw new Failure(
        `The supervisor (pid ${state.pid}) is ${state.phase} and does not come to an end: ./yard down`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function refuseUnready({ url, startedAt, pid }: SupervisorState): Promise<void> {
  const { ready, detail } = await askReadiness(url)
  if (ready) return
  throw new Failure(`Toolyard runs since ${startedAt} (pid ${pid}), but is not ready at ${url}: ${detail}`)
}

function describeChanges(installation: Installation, running: SupervisorState): string[] {
  const changes = changedSettings(installation, running).map((change) => `  ${change}`)
  if (changes.length === 0) return []
  return ['', 'It was started with other settings; ./yard down, then ./yard up applies these:', ...changes]
}

async function refuseTakenPort({ config }: Installation): Promise<void> {
  const reason = await whyPortIsTaken(config.host, config.port)
  if (reason === undefined) return
  const place = `${config.host}:${config.port}`
  if (reason !== 'EADDRINUSE') {
    throw new Failure(
      `Toolyard cannot listen on ${place} (${reason}): set YARD_HOST and YARD_PORT to an address and port that it may use`,
    )
  }
  const holder = portHolder(config.port)
  const by = holder === undefined ? 'by another program' : `by ${holder}`
  throw new Failure(`Port ${config.port} is taken ${by}: end that program, or set YARD_PORT to a free port`)
}
