import type { Pool } from '@toolyard/db/pool'
import type { CatalogTool, ReadManifests } from './rows/read-catalog.ts'
import { readCatalog } from './rows/read-catalog.ts'
import { readCatalogState } from './rows/request-reload.ts'

/** All tools as they were at one moment. Whoever derives something from a view may keep it by the view's identity. */
export type CatalogView = {
  epoch: number
  tools: readonly CatalogTool[]
  byName: ReadonlyMap<string, CatalogTool>
}

export type Catalog = {
  /** Never older than the call: the epoch is asked for each time, the tools only when it has moved. */
  view(): Promise<CatalogView>
  /** The view that was read last, which may be older than the call: for whoever finds out by itself that it was. */
  latest(): Promise<CatalogView>
}

type Reading = { epoch: number; view: Promise<CatalogView> }

export function createCatalog(pool: Pool): Catalog {
  const manifests: ReadManifests = new Map()
  let latest: CatalogView | undefined
  let reading: Reading | undefined

  // Read after the epoch: what changed in between is read too, and read again the next time.
  async function read(epoch: number): Promise<CatalogView> {
    const tools = await readCatalog(pool, manifests)
    return { epoch, tools, byName: new Map(tools.map((tool) => [tool.name, tool])) }
  }

  function begin(epoch: number): Reading {
    const ended = read(epoch).then(
      (done) => {
        // A later reading may be under way, or have ended already.
        if (reading === begun) [latest, reading] = [done, undefined]
        return done
      },
      (error: unknown) => {
        if (reading === begun) reading = undefined
        throw error
      },
    )
    const begun: Reading = { epoch, view: ended }
    return begun
  }

  async function view(): Promise<CatalogView> {
    const { epoch } = await readCatalogState(pool)
    if (latest?.epoch === epoch) return latest
    // After a change everybody comes at once, and one reading is enough for all who saw the same epoch.
    if (reading === undefined || reading.epoch < epoch) reading = begin(epoch)
    return reading.view
  }

  return { view, latest: async () => latest ?? view() }
}
