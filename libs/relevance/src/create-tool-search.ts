import type { AccessKey } from '@toolyard/access/access-key'
import type { Pool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import { getStandings } from '@toolyard/memory/get-standings'
import type { Standings } from '@toolyard/memory/rank'
import type { Hit } from './create-search-index.ts'
import { createSearcher } from './create-searcher.ts'
import type { Embedder } from './embedding/embedder.ts'
import { followLessons } from './follow-lessons.ts'
import type { ToolsAtOnce } from './follow-tools.ts'
import { followTools } from './follow-tools.ts'
import { keepSearches } from './keep-searches.ts'
import type { Patience } from './query-vectors.ts'
import type { Preferred } from './rank-tools.ts'
import { rankTools } from './rank-tools.ts'

export type ToolSearchDeps = { pool: Pool; embedder: Embedder; log: Pick<Logger, 'warn'> } & Patience

export type SearchRequest = {
  key: AccessKey
  /** One that the key may use: see `resolveTopic`. */
  topic: string
  query: string
  /** All there are, as the caller has seen them. */
  view: ToolsAtOnce
  /** Those that may be found. */
  among: readonly string[]
}

export type SearchAnswer = {
  /** By which a call says what led to it. */
  searchId: string
  nothingFits: boolean
  /** Whether meaning had a part in it, or words alone. */
  isSemantic: boolean
  /** All that may be found, the best first. */
  tools: Preferred<Hit>[]
  standings: Standings
}

export type ToolSearch = {
  search: (request: SearchRequest) => Promise<SearchAnswer>
  /** Makes what vectors these tools lack, behind everybody's back; where they lack none, the embedder is not asked at all. */
  warm: (view: ToolsAtOnce) => Promise<void>
  close: () => Promise<void>
}

/** Search of one process. Its tools, its lessons and its memory are never older than the call. */
export function createToolSearch({ pool, embedder, log, ...patience }: ToolSearchDeps): ToolSearch {
  const searcher = createSearcher(embedder, patience)
  const tools = followTools({ pool, embedder, searcher, log })
  const learn = followLessons({ pool, searcher, dimensions: embedder.dimensions })
  const keep = keepSearches(pool)

  return {
    async search({ key, topic, query, view, among }) {
      const actor = { kind: 'key', key } as const
      const [vector, standings] = await Promise.all([
        searcher.embedQuery(query, key.id),
        getStandings(pool, actor, { tools: among, topic }),
        tools.follow(view),
        learn(topic),
      ])
      // Behind the query, so that it waits for none of them.
      tools.makeVectors()
      // Whoever may know of some tools alone is told nothing of the others by what is found.
      const place = { topic, reach: key.tools }
      await searcher.prepare(place)
      const found = searcher.search({ ...place, query, vector, among: new Set(among) })
      const { hits, isSemantic, nothingFits } = found
      const searchId = await keep(key, { topic, query, vector, modelId: embedder.modelId })
      return { searchId, nothingFits, isSemantic, tools: rankTools(hits, standings), standings }
    },
    async warm(view) {
      if (view.tools.length === 0) return
      await tools.follow(view)
      tools.makeVectors()
    },
    close: () => embedder.close(),
  }
}
