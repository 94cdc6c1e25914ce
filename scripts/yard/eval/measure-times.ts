import { availableParallelism, loadavg } from 'node:os'
import { analyze } from '@toolyard/relevance/analyze'
import type { Embedder } from '@toolyard/relevance/embedder'
import { percentile } from './judge-ranks.ts'
import type { PreparedSet } from './prepare-set.ts'
import { teach } from './teach.ts'

const toolCount = 1_000
const asked = 300
const taught = 200

/** From the text of a query to the ranked list, one after another. A set of fewer tools is repeated under other names. */
export async function measureTimes(set: PreparedSet, embedder: Embedder) {
  const index = set.openIndex(set.tools.slice(0, toolCount))
  for (const [i, tool] of Array.from(
    { length: toolCount },
    (_, n) => set.tools[n % set.tools.length],
  ).entries())
    if (tool !== undefined && i >= set.tools.length)
      index.setTool({ ...tool, name: `${tool.name} ${i}` }, set.passagesOf(tool))
  for (const [i, query] of set.queries.slice(0, taught).entries()) teach(index, query, i)
  // What else the machine did in the last minute: figures of a busy one say little.
  const [load = 0] = loadavg()
  const embedMs: number[] = []
  const searchMs: number[] = []
  const totalMs: number[] = []
  for (const { query } of set.queries.slice(-asked)) {
    const from = performance.now()
    const [vector] = await embedder.embed([query])
    const embedded = performance.now()
    index.search({ terms: analyze(query), vector: vector ?? null, topic: null })
    const to = performance.now()
    embedMs.push(embedded - from)
    searchMs.push(to - embedded)
    totalMs.push(to - from)
  }
  const both = (values: readonly number[]) => ({
    p50: percentile(values, 0.5),
    p95: percentile(values, 0.95),
  })
  return {
    tools: index.toolCount(),
    load,
    cores: availableParallelism(),
    embedMs: both(embedMs),
    searchMs: both(searchMs),
    totalMs: both(totalMs),
  }
}
