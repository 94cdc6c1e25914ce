import type { Catalog } from '@toolyard/catalog/create-catalog'
import type { Pool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import type { ToolSearch } from '@toolyard/relevance/create-tool-search'
import { createToolSearch } from '@toolyard/relevance/create-tool-search'
import type { EmbeddingsConfig } from './open-embedder.ts'
import { openEmbedder } from './open-embedder.ts'

export type OpenToolSearchDeps = {
  pool: Pool
  config: EmbeddingsConfig
  catalog: Catalog
  log: Pick<Logger, 'warn'>
  /** When the database can be asked. */
  opened: Promise<unknown>
}

/** The search, made ready behind everybody's back, so that the first one after a start has its meaning too. */
export function openToolSearch({ pool, config, catalog, log, opened }: OpenToolSearchDeps): ToolSearch {
  const toolSearch = createToolSearch({ pool, embedder: openEmbedder(config), log })
  opened
    .then(async () => toolSearch.warm(await catalog.view()))
    .catch((error: unknown) => log.warn('vectors of tools are left to the first search', { error }))
  return toolSearch
}
