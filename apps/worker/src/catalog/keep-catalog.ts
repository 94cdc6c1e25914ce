import type { FoundTool } from '@toolyard/catalog/found-tool'
import { listScans, noteScan, pruneScans } from '@toolyard/catalog/list-scans'
import { publishScan } from '@toolyard/catalog/publish-scan'
import { readCatalogState } from '@toolyard/catalog/request-reload'
import { retryBuilds } from '@toolyard/catalog/retry-builds'
import type { Scan } from '@toolyard/catalog/scan-tools'
import type { Pool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import { listLiveWorkers } from '@toolyard/service/list-processes'
import type { Part } from '@toolyard/service/part'
import { repeat } from '@toolyard/service/repeat'
import { describeFolders, toScannedFolders } from './read-folders.ts'

export type CatalogKeeperOptions = {
  pool: Pool
  log: Logger
  processId: string
  schemaFits: Promise<void>
  /** Reads the folders as they are now. */
  scan: () => Promise<Scan>
  engineId: () => string | undefined
  /** After every publication, whether it changed something or not. */
  onPublished: () => void
}

export type CatalogKeeper = {
  /** The folder of a version, while it is there. */
  found(hash: string): FoundTool | undefined
  /** Something in the folders has changed: they are read at the next turn. */
  change(): void
  part(): Part
  stop(): Promise<void>
}

type Reading = { scan: Scan; reload: number; engine: string | undefined }

const askEveryMs = 500
const compareEveryMs = 10_000

/** Keeps the rows of the catalogue as the folders of this worker are: at start, on a wish to reload, on a change. */
export function keepCatalog(options: CatalogKeeperOptions): CatalogKeeper {
  const { pool, log, processId, schemaFits, engineId } = options
  let byHash: ReadonlyMap<string, FoundTool> = new Map()
  let latest: Reading | undefined
  let hasChanged = false
  let differs = false
  let isFailing = false

  async function read(reload: number): Promise<void> {
    const engine = engineId()
    const scan = await options.scan()
    const folders = toScannedFolders(scan)
    // Before the wish is answered: whoever wished must not be told of failures that are being tried again.
    const failed = toRetry(latest, { engine, reload })
    if (engine !== undefined && failed !== 'none') await retryBuilds(pool, engine, failed)
    const publication = { processId, engineId: engine, reload, contentHash: scan.contentHash, scan: folders }
    const changed = await publishScan(pool, publication)
    byHash = new Map(scan.tools.map((tool) => [tool.hash, tool]))
    latest = { scan, reload, engine }
    if (changed.length > 0) log.info('the tools have changed', { changed })
    for (const fault of folders.faults)
      if (changed.includes(fault.folder)) log.warn('a folder is no tool', fault)
    options.onPublished()
  }

  // An engine that answers for the first time has its reading noted too.
  const isOutdated = ({ scan, ...before }: Reading, reload: number) =>
    scan.unsettled.length > 0 || reload > before.reload || before.engine !== engineId()

  const reading = repeat({
    everyMs: askEveryMs,
    async work() {
      await schemaFits
      const { reload } = await readCatalogState(pool)
      // Before the reading, so that what changes meanwhile is read again; and noted again if it fails.
      const isWished = hasChanged
      hasChanged = false
      try {
        if (latest === undefined || isWished || isOutdated(latest, reload)) await read(reload)
      } catch (error) {
        hasChanged = true
        throw error
      }
      isFailing = false
    },
    onFailure(error) {
      isFailing = true
      log.warn('the tools cannot be read', { error })
    },
  })
  const comparing = repeat({
    everyMs: compareEveryMs,
    async work() {
      await schemaFits
      const workers = await listLiveWorkers(pool)
      await noteScan(pool, processId)
      await pruneScans(pool, workers)
      const others = (await listScans(pool, workers)).filter((row) => row.process_id !== processId)
      // Only said, not judged: hosts differ for a while in every deployment.
      differs = latest !== undefined && others.some((row) => row.content_hash !== latest?.scan.contentHash)
    },
    onFailure: (error) => log.warn('the readings of other workers cannot be compared', { error }),
  })
  return {
    found: (hash) => byHash.get(hash),
    change() {
      hasChanged = true
    },
    part() {
      if (isFailing) return { state: 'unfit', detail: 'the tools cannot be read; see the log' }
      return latest === undefined ? { state: 'starting' } : describeFolders(latest.scan, differs)
    },
    async stop() {
      await Promise.all([reading.stop(), comparing.stop()])
    },
  }
}

/** Which builds that failed are tried again with this reading. */
function toRetry(
  before: Reading | undefined,
  now: Pick<Reading, 'engine' | 'reload'>,
): 'all' | 'faults' | 'none' {
  // On a wish and after a restart, whatever failed: the cause may have been a network's.
  if (before === undefined || now.reload > before.reload) return 'all'
  // The engine was away, or is another: what it failed at was no author's fault.
  return now.engine === before.engine ? 'none' : 'faults'
}
