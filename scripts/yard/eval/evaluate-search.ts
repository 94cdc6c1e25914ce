import { parseArgs } from 'node:util'
import { createLocalEmbedder } from '@toolyard/relevance/create-local-embedder'
import { referenceMean } from '@toolyard/relevance/reference-mean'
import { wholeNumber } from '../arguments/whole-number.ts'
import { UsageFault } from '../arguments/usage-fault.ts'
import { columns } from '../text/terminal-text.ts'
import { measureCold } from './measure-cold.ts'
import { measureLearning, measureSkewed } from './measure-learning.ts'
import { measureRefusals } from './measure-refusals.ts'
import { measureTimes } from './measure-times.ts'
import { prepareSet } from './prepare-set.ts'
import type { PreparedSet } from './prepare-set.ts'
import { readLabelledSet } from './read-labelled-set.ts'
import { resultRows } from './result-rows.ts'

const options = {
  data: { type: 'string' },
  queries: { type: 'string', default: '3000' },
  json: { type: 'boolean', default: false },
} as const

const fewTools = 50

/** Every draw has its seed: the same data give the same figures, but for the times. */
export async function evaluateSearch(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options })
  if (values.data === undefined) throw new UsageFault('name the folder of a labelled set by --data')
  const queriesMax = wholeNumber('--queries', values.queries, { min: 10, max: 100_000 })
  const set = readLabelledSet(values.data, queriesMax)
  const embedder = createLocalEmbedder()
  try {
    console.error(`Embedding ${set.tools.length} tools and ${set.queries.length} queries`)
    const prepared = await prepareSet(set, embedder, await referenceMean(embedder))
    const result = { ...measureSet(prepared), times: await measureTimes(prepared, embedder) }
    const lines = values.json ? [JSON.stringify(result, null, 2)] : columns(resultRows(result))
    console.log(lines.join('\n'))
    return 0
  } finally {
    await embedder.close()
  }
}

export type Measured = ReturnType<typeof measureSet> & { times: Awaited<ReturnType<typeof measureTimes>> }

function measureSet(set: PreparedSet) {
  const all = set.tools.length
  return {
    tools: all,
    queries: set.queries.length,
    cold: measureCold(set, all, 1),
    coldFew: all > fewTools ? measureCold(set, fewTools, 10) : null,
    learning: [200, 1_000].flatMap((count) => measureLearning(set, count) ?? []),
    skewed: [200, 1_000].flatMap((count) => measureSkewed(set, count) ?? []),
    refusals: [...new Set([Math.min(fewTools, all), all])].map((size) => measureRefusals(set, size)),
  }
}
