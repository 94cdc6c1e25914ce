import type { workerSettings } from '@toolyard/config/apps'
import { probeEngine } from '@toolyard/sandbox/engine'
import type { Part } from '@toolyard/service/part'
import { repeat } from '@toolyard/service/repeat'
import type { RunningService, ServiceContext } from '@toolyard/service/run-service'
import { enginePart } from './engine-part.ts'

type WorkerContext = ServiceContext<(typeof workerSettings)[number]>

const probeEveryMs = 5_000

export async function startWorker({ config, log }: WorkerContext): Promise<RunningService> {
  let engine: Part = { state: 'starting' }
  const probe = async () => {
    const next = enginePart(await probeEngine(config.dockerHost))
    if (next.state !== engine.state) {
      const level = next.state === 'ready' ? 'info' : 'warn'
      log[level](`the Docker engine is ${next.state}`, { was: engine.state, detail: next.detail })
    }
    engine = next
  }
  // The first answer is awaited, so that this worker never says of itself what it does not know yet.
  await probe()
  const probing = repeat({
    everyMs: probeEveryMs,
    work: probe,
    onFailure: (error) => log.warn('asking the Docker engine failed', { error }),
  })
  return { parts: () => ({ engine }), drain: () => probing.stop() }
}
