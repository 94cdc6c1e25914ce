import type { workerSettings } from '@toolyard/config/apps'
import { defaultDockerHost, probeEngine } from '@toolyard/sandbox/engine'
import { writeEnds } from '@toolyard/ends/write-ends'
import { listLiveWorkers } from '@toolyard/service/list-processes'
import type { Part, Parts } from '@toolyard/service/part'
import { repeat } from '@toolyard/service/repeat'
import type { RunningService, ServiceContext } from '@toolyard/service/run-service'
import { awaitVault } from '@toolyard/vault/await-vault'
import { closeInTime } from './close-in-time.ts'
import { enginePart } from './engine-part.ts'
import { serveCatalog } from './catalog/serve-catalog.ts'
import { openSandboxes } from './open-sandboxes.ts'
import { provideInit } from './provide-init.ts'
import { serveDeliveries } from './deliveries/serve-deliveries.ts'
import { serveInvocations } from './invocations/serve-invocations.ts'

export type WorkerContext = ServiceContext<(typeof workerSettings)[number]>

const probeEveryMs = 5_000
const sweepEveryMs = 30_000

export async function startWorker(context: WorkerContext): Promise<RunningService> {
  const { config, log, pool, schemaFits } = context
  const dockerHost = config.dockerHost ?? defaultDockerHost
  const init = await provideInit(config.dataDir)
  if (init.state !== 'ready') log.warn('tools cannot be built', { detail: init.detail })
  const { sandboxes, egressFilter } = await openSandboxes(context, dockerHost)

  let engine: Part = { state: 'starting' }
  let engineId: string | undefined
  const probe = async () => {
    const answer = await probeEngine(dockerHost)
    engineId = answer.state === 'ready' ? answer.id : undefined
    const next = enginePart(answer)
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
  const catalog = await serveCatalog(context, { dockerHost, engineId: () => engineId })
  const vault = awaitVault({ ...context, secretKeys: config.secretKeys, dataDir: config.dataDir })
  const invocations = serveInvocations(context, {
    within: writeEnds(log),
    vault,
    sandboxes,
    engineId: () => engineId,
    doubtImages: () => catalog.doubtImages(),
  })
  const deliveries = serveDeliveries(context, { vault })
  const sweeping = repeat({
    everyMs: sweepEveryMs,
    async work() {
      await schemaFits
      const { removed, stuck } = await sandboxes.sweep(await listLiveWorkers(pool))
      if (removed.length > 0) log.info('removed what dead workers had left', { containers: removed.length })
      if (stuck.length > 0) log.warn('the engine does not remove these containers', { stuck })
    },
    onFailure: (error) => log.warn('sweeping the engine failed', { error }),
  })
  const parts = (): Parts => ({
    engine,
    init,
    egress_filter: egressFilter,
    ...catalog.parts(),
    ...invocations.parts(),
    ...deliveries.parts(),
  })
  return {
    opened: vault,
    parts,
    async drain(signal) {
      // What runs needs to know of the engine until it has ended.
      await Promise.all([invocations.drain(signal), deliveries.drain(signal), catalog.drain()])
      const close = async () => {
        await Promise.all([probing.stop(), sweeping.stop()])
        await sandboxes.close()
      }
      if (!(await closeInTime(close, signal)))
        log.warn('the engine has not removed all sandboxes in time: others sweep them')
    },
  }
}
