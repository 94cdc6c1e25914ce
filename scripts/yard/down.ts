import { existsSync, rmSync, rmdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { removeKeptKeys } from '../services/database/admin-key.ts'
import { ask } from '../services/terminal/ask.ts'
import { deleteData, hasDataDir } from '../services/installation/data-dir.ts'
import { Failure, messageOf } from '../services/terminal/failure.ts'
import type { Installation } from '../services/installation/installation.ts'
import { openInstallation } from '../services/installation/installation.ts'
import { stopLeftoverApps } from '../services/supervisor/leftover-apps.ts'
import { withLock } from '../services/installation/lock.ts'
import { systemFolder } from '../services/postgres/programs.ts'
import { endProcess } from '../services/machine/process-identity.ts'
import type { Progress } from '../services/terminal/progress.ts'
import { createProgress, createRenderer } from '../services/terminal/progress.ts'
import { removeImages } from '../services/engine/remove-images.ts'
import { stopServices, testRun } from '../services/supervisor/stop-services.ts'
import { stopTestServices } from '../services/testing/test-services.ts'
import { readLiveState, removeState } from '../services/supervisor/state.ts'

// Beyond what its apps may take to drain: the stopping of Postgres and of the engine.
const stopMarginMs = 45_000
const lockWaitMs = 60_000

export async function down(args: string[]): Promise<number> {
  const options = {
    'delete-data': { type: 'boolean', default: false },
    yes: { type: 'boolean', short: 'y', default: false },
  } as const
  const { values } = parseArgs({ args, options })
  const installation = openInstallation()
  const exists = hasDataDir(installation)
  if (values['delete-data'] && !values.yes) await confirmDeletion(installation.dataDir)
  const progress = createProgress(createRenderer().show)
  const stopped = exists ? await stopAll(installation, progress) : []
  console.log(stopped.length === 0 ? 'Nothing was running.' : `Stopped ${stopped.join(', ')}.`)
  const run = testRun(installation)
  if (run !== undefined) console.log(`A ./yard test (pid ${run.pid}) is running; it stops its own services.`)
  if (values['delete-data']) await removeData(installation)
  return 0
}

async function stopAll(installation: Installation, progress: Progress): Promise<string[]> {
  const supervisor = await progress.step('Stopping', () => stopSupervisor(installation))
  const what = 'Another ./yard works on this installation'
  return withLock(installation.paths.lock, { waitMs: lockWaitMs, what }, () =>
    progress.step('Stopping what is left', async () => {
      const apps = await stopLeftoverApps(installation)
      const services = await stopServices(installation)
      const tests = testRun(installation) === undefined ? await stopTestServices(installation) : []
      removeState(installation.paths.state)
      return [...new Set([...supervisor, ...apps, ...services, ...tests])]
    }),
  )
}

/** A supervisor that stops takes all it started with it. */
async function stopSupervisor({ paths, config }: Installation): Promise<string[]> {
  const state = readLiveState(paths.state)
  if (state === undefined) return []
  const graceMs = config.drainSeconds * 1_000 + stopMarginMs
  await endProcess(state, [
    { signal: 'SIGTERM', graceMs },
    { signal: 'SIGKILL', graceMs: 5_000 },
  ])
  const services = [
    ...(state.database?.kind === 'own' ? ['Postgres'] : []),
    ...(state.engine?.kind === 'own' ? ['the Docker engine'] : []),
  ]
  return [...Object.keys(state.apps), ...services]
}

async function confirmDeletion(dataDir: string): Promise<void> {
  if (!process.stdin.isTTY) throw new Failure('--delete-data needs a terminal to confirm at, or --yes')
  console.log(`This deletes the database, the keys, the images and the logs of ${dataDir} for good.`)
  if ((await ask('Type "delete" to go on: ')) !== 'delete')
    throw new Failure('Nothing was stopped and nothing deleted')
}

async function removeData(installation: Installation): Promise<void> {
  if (testRun(installation) !== undefined)
    throw new Failure('The data is in use by ./yard test: try again when it has ended')
  removeKeptKeys(installation.paths.adminKey)
  const images = await removeImages(installation).catch((error: unknown) => {
    console.error(`The images of tools are still on the engine: ${messageOf(error)}`)
    return 0
  })
  const left = deleteData(installation)
  const system = systemFolder(installation.id)
  if (existsSync(system)) {
    rmSync(system, { recursive: true })
    removeIfEmpty(dirname(system))
  }
  const rest = left.length === 0 ? '' : ` What is not Toolyard's is still there: ${left.join(', ')}.`
  const also = images === 0 ? '' : ` ${images} images of tools were removed from the engine.`
  console.log(`Deleted the data in ${installation.dataDir}.${also}${rest}`)
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // safe to ignore because another installation has its data there
  }
}
