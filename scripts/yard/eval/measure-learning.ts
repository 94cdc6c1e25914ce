import { judgeRanks } from './judge-ranks.ts'
import type { RankFigures } from './judge-ranks.ts'
import { drawTools, ranksOf } from './measure-cold.ts'
import type { PreparedQuery, PreparedSet } from './prepare-set.ts'
import { shuffle } from './shuffle.ts'
import { teach } from './teach.ts'

const seeds = [11, 12, 13]
const askedMax = 1_000
/** Fewer queries than this say nothing of the tools they were asked for. */
const askedMin = 100

export type Learning = { outcomes: number; before: RankFigures; after: RankFigures }

/** Queries drawn evenly were answered by their right tools; others are asked. Undefined: the set has too few. */
export function measureLearning(set: PreparedSet, outcomes: number): Learning | undefined {
  return measure(set, outcomes, () => ({ mayTeach: () => true, mayAsk: () => true }))
}

/** Only half of the tools were used; what the other half is asked for is judged. */
export function measureSkewed(set: PreparedSet, outcomes: number): Learning | undefined {
  return measure(set, outcomes, (seed) => {
    const half = shuffle(set.tools, seed).slice(0, Math.ceil(set.tools.length / 2))
    const used = new Set(half.map(({ name }) => name))
    const isUsed = ({ tools }: PreparedQuery) => tools.some((name) => used.has(name))
    return { mayTeach: isUsed, mayAsk: (query) => !isUsed(query) }
  })
}

type Choice = { mayTeach: (query: PreparedQuery) => boolean; mayAsk: (query: PreparedQuery) => boolean }

function measure(set: PreparedSet, outcomes: number, choose: (seed: number) => Choice): Learning | undefined {
  const before: number[] = []
  const after: number[] = []
  for (const seed of seeds) {
    const { mayTeach, mayAsk } = choose(seed)
    const { index, queries } = drawTools(set, set.tools.length, seed)
    const order = shuffle(queries, seed)
    const taught = order.filter(mayTeach).slice(0, outcomes)
    const known = new Set(taught)
    const asked = order.filter((query) => mayAsk(query) && !known.has(query)).slice(0, askedMax)
    if (taught.length < outcomes || asked.length < askedMin) return undefined
    before.push(...ranksOf(index, asked))
    for (const [i, query] of taught.entries()) teach(index, query, i)
    after.push(...ranksOf(index, asked))
  }
  return { outcomes, before: judgeRanks(before), after: judgeRanks(after) }
}
