import { fitsMin } from '@toolyard/relevance/calibrate'
import { judgeRefusals, percentile } from './judge-ranks.ts'
import type { RefusalFigures } from './judge-ranks.ts'
import { drawTools } from './measure-cold.ts'
import type { PreparedQuery, PreparedSet } from './prepare-set.ts'
import { shuffle } from './shuffle.ts'

const draws = 10
const askedPerDraw = 400

export type Refusals = RefusalFigures & {
  tools: number
  /** How often "the best fits" came true, where it was said to be so likely. */
  calibration: { said: number; came: number; queries: number }[]
  /** Of questions that belong to none of the tools by their label. */
  unanswerableRefused: number | null
}

/** Each query is asked twice: with its right tool among the others, and without it. */
export function measureRefusals(set: PreparedSet, tools: number): Refusals {
  const present: number[] = []
  const absent: number[] = []
  const foreign: number[] = []
  const count = tools >= set.tools.length ? 1 : draws
  for (let seed = 1; seed <= count; seed += 1) {
    const { index, names, queries } = drawTools(set, tools, seed)
    const ask = ({ terms, vector }: PreparedQuery, among: ReadonlySet<string>) =>
      index.search({ terms, vector, topic: null, among }).fits
    for (const query of shuffle(queries, seed).slice(0, count === 1 ? 3 * askedPerDraw : askedPerDraw)) {
      present.push(ask(query, names))
      absent.push(ask(query, new Set([...names].filter((name) => !query.tools.includes(name)))))
    }
    for (const query of set.unanswerable.slice(0, askedPerDraw)) foreign.push(ask(query, names))
  }
  return {
    tools,
    ...judgeRefusals(present, absent, fitsMin),
    calibration: calibrationOf(present, absent),
    unanswerableRefused:
      foreign.length === 0 ? null : (100 * foreign.filter((fits) => fits < fitsMin).length) / foreign.length,
  }
}

/** By fifths of what was said, each query with its tool and without it: half of them have one. */
function calibrationOf(present: readonly number[], absent: readonly number[]): Refusals['calibration'] {
  const said = [...present.map((p) => ({ p, came: 1 })), ...absent.map((p) => ({ p, came: 0 }))]
  const bounds = [0.2, 0.4, 0.6, 0.8].map((share) =>
    percentile(
      said.map(({ p }) => p),
      share,
    ),
  )
  return [-Infinity, ...bounds].map((from, i) => {
    const fifth = said.filter(({ p }) => p >= from && p < (bounds[i] ?? Infinity))
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length)
    return {
      said: mean(fifth.map(({ p }) => p)),
      came: mean(fifth.map(({ came }) => came)),
      queries: fifth.length,
    }
  })
}
