export type RankFigures = { queries: number; top1: number; top3: number; top5: number; mrr: number }

/** In percent. A rank is 0 for the first place; infinite where the right tool was not found. */
export function judgeRanks(ranks: readonly number[]): RankFigures {
  const share = (below: number) => percent(ranks.filter((rank) => rank < below).length, ranks.length)
  const mrr = ranks.reduce((sum, rank) => sum + 1 / (rank + 1), 0)
  return {
    queries: ranks.length,
    top1: share(1),
    top3: share(3),
    top5: share(5),
    mrr: percent(mrr, ranks.length),
  }
}

export type RefusalFigures = {
  /** Of "nothing fits" as it is said. */
  precision: number
  recall: number
  /** Of the queries with a fitting tool, those for which it is not said. */
  kept: number
  /** What would be refused if the threshold were where 90 % of those are kept. */
  recallAtKeep90: number
}

/** From the probabilities with a fitting tool and without one. */
export function judgeRefusals(
  present: readonly number[],
  absent: readonly number[],
  fitsMin: number,
): RefusalFigures {
  const refused = (values: readonly number[], below: number) => values.filter((value) => value < below).length
  const right = refused(absent, fitsMin)
  const wrong = refused(present, fitsMin)
  const keep90 = present.toSorted((a, b) => a - b)[Math.floor(present.length * 0.1)] ?? 0
  return {
    precision: percent(right, right + wrong),
    recall: percent(right, absent.length),
    kept: 100 - percent(wrong, present.length),
    recallAtKeep90: percent(refused(absent, keep90), absent.length),
  }
}

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole)

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
