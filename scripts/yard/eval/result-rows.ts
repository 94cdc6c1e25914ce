import type { Measured } from './evaluate-search.ts'
import type { RankFigures } from './judge-ranks.ts'
import type { Learning } from './measure-learning.ts'

/** For a person: what was measured, and the figures. */
export function resultRows(result: Measured): string[][] {
  const rows = [
    ['in %', 'top-1', 'top-3', 'top-5', 'MRR', 'queries'],
    rankRow(`cold, ${result.tools} tools`, result.cold),
    ...(result.coldFew === null ? [] : [rankRow('cold, 50 tools, 10 draws', result.coldFew)]),
    ...result.learning.flatMap((one) => learningRows(`${one.outcomes} outcomes`, one)),
    ...result.skewed.flatMap((one) => learningRows(`${one.outcomes} outcomes of others`, one)),
    [],
    ['nothing fits, in %', 'precision', 'recall', 'kept', 'recall at 90 % kept', 'unanswerable refused'],
    ...result.refusals.map(({ tools, precision, recall, kept, recallAtKeep90, unanswerableRefused }) => [
      `${tools} tools`,
      ...[precision, recall, kept, recallAtKeep90].map(tenth),
      unanswerableRefused === null ? '-' : tenth(unanswerableRefused),
    ]),
    ...result.refusals.map(({ tools, calibration }) => [
      `said / came true by fifths, ${tools} tools`,
      ...calibration.map(({ said, came }) => `${said.toFixed(2)} / ${came.toFixed(2)}`),
    ]),
    [],
    [timesTitle(result.times), 'p50', 'p95'],
    timeRow('embed', result.times.embedMs),
    timeRow('search', result.times.searchMs),
    timeRow('both', result.times.totalMs),
  ]
  return rows
}

function learningRows(title: string, { before, after }: Learning): string[][] {
  const gain = [
    after.top1 - before.top1,
    after.top3 - before.top3,
    after.top5 - before.top5,
    after.mrr - before.mrr,
  ]
  return [
    rankRow(`before ${title}`, before),
    rankRow(`after ${title}`, after),
    ['  gain', ...gain.map((by) => `${by < 0 ? '' : '+'}${tenth(by)}`)],
  ]
}

const timesTitle = ({ tools, load, cores }: Measured['times']): string =>
  `ms, ${tools} tools, at a load of ${load.toFixed(1)} on ${cores} cores`

const tenth = (value: number) => value.toFixed(1)

const rankRow = (title: string, { top1, top3, top5, mrr, queries }: RankFigures): string[] => [
  title,
  ...[top1, top3, top5, mrr].map(tenth),
  String(queries),
]

const timeRow = (title: string, { p50, p95 }: { p50: number; p95: number }): string[] => [
  title,
  ...[p50, p95].map(tenth),
]
