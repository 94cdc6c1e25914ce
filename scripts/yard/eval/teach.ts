import type { SearchIndex } from '@toolyard/relevance/create-search-index'
import type { PreparedQuery } from './prepare-set.ts'

/** As if the right tool had been called and had done what was asked. */
export function teach(index: SearchIndex, query: PreparedQuery, atMs: number): void {
  const [tool] = query.tools
  if (tool === undefined) return
  index.learn({
    id: `${atMs}`,
    tool,
    topic: null,
    atMs,
    reward: 0.3,
    terms: query.terms,
    vector: query.vector,
  })
}
