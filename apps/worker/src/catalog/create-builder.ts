import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { buildToolImage } from '@toolyard/catalog/build-tool-image'
import { basesFor } from '@toolyard/catalog/product-bases'
import { tryLock } from '@toolyard/db/advisory-lock'
import type { Pool } from '@toolyard/db/pool'
import { chooseBuildNetwork } from '@toolyard/sandbox/choose-build-network'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { initFile } from '../provide-init.ts'
import type { WorkerContext } from '../start-worker.ts'
import type { BuildImage } from './keep-images.ts'
import type { CatalogServiceOptions } from './serve-catalog.ts'

const stepMemoryBytes = 2 * 1024 ** 3
const megabyte = 1024 ** 2
const lockedRetryMs = 500

/** Builds on the engine of this worker, within what the operator allows. */
export function createBuilder(
  { config, processId }: WorkerContext,
  { dockerHost, engineId, locks }: CatalogServiceOptions & { locks: Pool },
): BuildImage {
  return async (tool, { signal, onProgress }) => {
    const init = await readFile(initFile(config.dataDir))
    const { user } = tool.manifest.sandbox
    return buildToolImage(
      {
        tool: { ...tool, ...(user === undefined ? {} : { user }) },
        instance: config.instance,
        worker: processId,
        init,
      },
      {
        engine: openEngine(dockerHost),
        bases: await basesFor(config.toolDirs),
        networkMode: await chooseBuildNetwork(dockerHost, config.instance),
        limits: {
          timeoutMs: config.buildSeconds * 1_000,
          sizeMaxBytes: config.imageMaxMegabytes * megabyte,
          memoryBytes: stepMemoryBytes,
        },
        withLock: (name, ending, work) =>
          inTurn({ locks, name: `${name} ${engineId() ?? ''}`, signal: ending }, work),
        signal,
        onProgress,
      },
    )
  }
}

/** Waits for its turn among all workers of the engine. */
async function inTurn<T>(
  { locks, name, signal }: { locks: Pool; name: string; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    const lock = await tryLock(locks, name)
    if (lock !== undefined) {
      try {
        return await work()
      } finally {
        await lock.release()
      }
    }
    await delay(lockedRetryMs, undefined, { signal })
  }
}
