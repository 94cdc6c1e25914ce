import { basesFor } from '@toolyard/catalog/product-bases'
import { scanTools } from '@toolyard/catalog/scan-tools'
import { watchTools } from '@toolyard/catalog/watch-tools'
import { createPool } from '@toolyard/db/pool'
import { initIdentity } from '@toolyard/sandbox/build-init'
import { openEngine } from '@toolyard/sandbox/open-engine'
import type { Parts } from '@toolyard/service/part'
import { repeat } from '@toolyard/service/repeat'
import type { WorkerContext } from '../start-worker.ts'
import { createBuilder } from './create-builder.ts'
import { keepCatalog } from './keep-catalog.ts'
import { keepImages } from './keep-images.ts'
import { keepNames } from './keep-names.ts'
import { sweepImages } from './sweep-images.ts'

export type CatalogService = {
  parts(): Parts
  /** An image that was believed to be there is not: the engine is asked at once. */
  doubtImages(): void
  /** Builds under way are cut short: the next to build finds their layers. */
  drain(): Promise<void>
}

export type CatalogServiceOptions = { dockerHost: string; engineId: () => string | undefined }

const sweepEveryMs = 60_000

/** This worker's share in the catalogue: it reads the folders, builds what its engine lacks, removes what is old. */
export async function serveCatalog(
  context: WorkerContext,
  { dockerHost, engineId }: CatalogServiceOptions,
): Promise<CatalogService> {
  const { pool, queues, log, processId, config, schemaFits } = context
  const docker = openEngine(dockerHost)
  const init = await initIdentity()
  const ending = new AbortController()
  // Of each build: its own lock and that of a base.
  const locks = createPool({
    url: config.databaseUrl.reveal(),
    max: 2 * config.buildConcurrency,
    applicationName: 'toolyard-builds',
    onIdleError: (error) => log.warn('a connection for locks broke', { error }),
  })

  const catalog = keepCatalog({
    pool,
    log,
    processId,
    schemaFits,
    engineId,
    async scan() {
      const { hash } = await basesFor(config.toolDirs)
      return scanTools(config.toolDirs, { extra: [init, hash], signal: ending.signal })
    },
    onPublished: () => images.look(),
  })
  const images = keepImages({
    pool,
    locks,
    queues,
    log,
    schemaFits,
    engineId,
    found: (hash) => catalog.found(hash),
    build: createBuilder(context, { dockerHost, engineId, locks }),
    concurrency: config.buildConcurrency,
  })
  const names = keepNames({ pool, log, docker, schemaFits, engineId })
  const sweep = async () => {
    await schemaFits
    const engine = engineId()
    if (engine !== undefined)
      await sweepImages({ pool, log, docker, instance: config.instance, engineId: engine })
  }
  const onFailure = (error: unknown) => log.warn('the images of the engine cannot be swept', { error })
  const sweeping = repeat({ everyMs: sweepEveryMs, work: sweep, onFailure })
  const watching = config.watchTools
    ? await watchTools(config.toolDirs, () => catalog.change(), { signal: ending.signal })
    : undefined
  return {
    parts: () => ({ tools: catalog.part() }),
    doubtImages: () => void sweep().then(() => images.look(), onFailure),
    async drain() {
      ending.abort()
      await Promise.all([catalog.stop(), sweeping.stop(), names.stop(), watching?.ended, images.drain()])
      // One that a build still holds is closed when it ends.
      locks.end().catch((error: unknown) => log.warn('connections for locks cannot be closed', { error }))
    },
  }
}
