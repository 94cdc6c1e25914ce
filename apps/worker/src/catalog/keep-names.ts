import { listServed } from '@toolyard/catalog/list-served'
import { nameServedImage } from '@toolyard/catalog/name-served-image'
import { readCatalogState } from '@toolyard/catalog/request-reload'
import type { Pool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import type { Engine } from '@toolyard/sandbox/open-engine'
import type { Repeated } from '@toolyard/service/repeat'
import { repeat } from '@toolyard/service/repeat'

export type NameKeeperOptions = {
  pool: Pool
  log: Logger
  docker: Engine
  schemaFits: Promise<void>
  engineId: () => string | undefined
}

const everyMs = 2_000

/**
 * Lets the names for `docker run` on this engine follow what serves, however that came about: a build here or for
 * another engine, a rollback, a folder that was changed back.
 */
export function keepNames({ pool, log, docker, schemaFits, engineId }: NameKeeperOptions): Repeated {
  let done: { engine: string; epoch: number } | undefined
  let named = new Map<string, string>()

  async function work(): Promise<void> {
    await schemaFits
    const engine = engineId()
    if (engine === undefined) return
    const { epoch } = await readCatalogState(pool)
    if (done?.engine === engine && done.epoch === epoch) return
    if (done?.engine !== engine) named = new Map()
    for (const { tool, version, imageId, madeAt } of await listServed(pool, engine)) {
      const what = `${version} ${imageId} ${madeAt.toISOString()}`
      if (named.get(tool) === what) continue
      await nameServedImage(docker, { tool, version, imageId })
      named.set(tool, what)
    }
    done = { engine, epoch }
  }

  const onFailure = (error: unknown) => log.warn('images that serve cannot be named', { error })
  return repeat({ everyMs, work, onFailure })
}
