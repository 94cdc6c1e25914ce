import { listToolImages } from '@toolyard/sandbox/list-tool-images'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { removeToolImage } from '@toolyard/sandbox/remove-tool-image'
import { repeat } from '@toolyard/service/repeat'
import { watchForHang } from '../services/engine/hang-watch.ts'
import { findOwnEngine, startOwnEngine, stopOwnEngine } from '../services/engine/own-engine.ts'
import type { Installation } from '../services/installation/installation.ts'
import { endProcess } from '../services/machine/process-identity.ts'
import { messageOf } from '../services/terminal/failure.ts'
import type { Progress } from '../services/terminal/progress.ts'

export type HouseEngine = {
  dockerHost: string
  /** Undefined: the engine is not the house's own. */
  restartEngine: ((how: 'ask' | 'kill') => Promise<void>) | undefined
}

const mindEveryMs = 1_000

/** The one that is given, which the house leaves as it was, or one of its own. */
export async function provideEngine(
  place: { id: string; paths: Installation['paths'] },
  closing: AsyncDisposableStack,
  { dockerHost: given, progress }: { dockerHost?: string | undefined; progress: Progress },
): Promise<HouseEngine> {
  if (given !== undefined) {
    closing.defer(() => clear(given, place.id))
    return { dockerHost: given, restartEngine: undefined }
  }
  closing.defer(async () => void (await stopOwnEngine(place)))
  const { dockerHost } = await progress.step('Starting a Docker engine for it', () => startOwnEngine(place))
  // As a supervisor does, which a house has none of.
  const hang = watchForHang(dockerHost)
  let isRestarting = false
  const minding = repeat({
    everyMs: mindEveryMs,
    async work() {
      if (isRestarting) return
      hang.look(performance.now())
      if (!hang.isHung()) return
      progress.note('The Docker engine hangs, and is started again')
      await startOwnEngine(place)
      hang.forget()
    },
    onFailure: (error) => progress.note(`Minding the Docker engine failed: ${messageOf(error)}`),
  })
  closing.defer(() => minding.stop())
  return {
    dockerHost,
    async restartEngine(how) {
      isRestarting = true
      try {
        const engine = how === 'kill' ? await findOwnEngine(place) : undefined
        if (engine === undefined) await stopOwnEngine(place)
        else await endProcess(engine.process, [{ signal: 'SIGKILL', graceMs: 5_000 }])
        await startOwnEngine(place)
        hang.forget()
      } finally {
        isRestarting = false
      }
    },
  }
}

/** What this house has left on an engine that is not its own. */
async function clear(dockerHost: string, instance: string): Promise<void> {
  const engine = openEngine(dockerHost)
  const filters = { label: [`toolyard.instance=${instance}`] }
  for (const { Id } of await engine.listContainers({ all: true, filters }))
    await engine.getContainer(Id).remove({ force: true, v: true })
  for (const { id } of await listToolImages(engine, instance)) await removeToolImage(engine, { id, instance })
}
