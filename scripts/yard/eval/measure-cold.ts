import type { SearchIndex } from '@toolyard/relevance/create-search-index'
import { judgeRanks } from './judge-ranks.ts'
import type { RankFigures } from './judge-ranks.ts'
import type { PreparedQuery, PreparedSet } from './prepare-set.ts'
import { shuffle } from './shuffle.ts'

export type Draw = { index: SearchIndex; names: ReadonlySet<string>; queries: readonly PreparedQuery[] }

/** So many of the tools, and the queries for which one of them is right. */
export function drawTools(set: PreparedSet, size: number, seed: number): Draw {
  const tools = size >= set.tools.length ? set.tools : shuffle(set.tools, seed).slice(0, size)
  const names = new Set(tools.map(({ name }) => name))
  const queries = set.queries.filter(({ tools: right }) => right.some((name) => names.has(name)))
  return { index: set.openIndex(tools), names, queries }
}

/** Where the right tool stands. Of several right ones, the best placed counts. */
export function ranksOf(index: SearchIndex, queries: readonly PreparedQuery[]): number[] {
  return queries.map(({ terms, vector, tools }) => {
    const { hits } = index.search({ terms, vector, topic: null })
    const rank = hits.findIndex(({ tool }) => tools.includes(tool))
    return rank === -1 ? Infinity : rank
  })
}

/** With nothing learned. */
export function measureCold(set: PreparedSet, size: number, draws: number): RankFigures {
  const ranks = Array.from({ length: draws }, (_, i) => drawTools(set, size, i + 1)).flatMap((draw) =>
    ranksOf(draw.index, draw.queries),
  )
  return judgeRanks(ranks)
}
