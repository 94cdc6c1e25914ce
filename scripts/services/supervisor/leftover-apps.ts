import { killGroup } from './app-process.ts'
import type { Installation } from '../installation/installation.ts'
import { endProcess, hasEnded, isAlive } from '../machine/process-identity.ts'
import { readLastState } from './state.ts'

/** Ends apps that outlived their supervisor. Each does so by itself when it notices; this is for those that are slow. */
export async function stopLeftoverApps({ paths, config }: Installation): Promise<string[]> {
  const apps = Object.entries(readLastState(paths.state)?.apps ?? {})
  const ended = await Promise.all(
    apps.map(async ([name, app]) => {
      if (app.process === undefined || !isAlive(app.process)) return undefined
      await endProcess(app.process, [{ signal: 'SIGTERM', graceMs: config.drainSeconds * 1_000 }])
      killGroup(app.process.pid)
      await hasEnded(app.process, 5_000)
      return name
    }),
  )
  return ended.filter((name) => name !== undefined)
}
