import type { SharedMetrics } from '@toolyard/log/metrics'
import { createQuestion } from '../create-question.ts'
import type { Reading } from './gauges.ts'
import { toSharedMetrics } from './gauges.ts'

export type GaugeReaderOptions = {
  read: () => Promise<Reading[]>
  /** Called when reads begin to fail, once per outage. */
  onFailure: (error: unknown) => void
  monotonicMs?: () => number
}

const reusedMs = 5_000
// A scraper gives up after ten seconds as a rule, and there is more to tell it than this.
const answerMs = 2_000

/** The figures of the whole, read when somebody asks and at most every few seconds, however many ask. */
export function createGaugeReader(options: GaugeReaderOptions): () => Promise<SharedMetrics> {
  const { read, onFailure, monotonicMs = () => performance.now() } = options
  const ask = createQuestion(read, answerMs)
  let latest: { atMs: number; shared: SharedMetrics } | undefined
  let isFailing = false
  return async () => {
    if (latest !== undefined && monotonicMs() - latest.atMs < reusedMs) return latest.shared
    try {
      const shared = toSharedMetrics(await ask())
      latest = { atMs: monotonicMs(), shared }
      isFailing = false
      return shared
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
      // What was true a while ago would look as if it were true now.
      return toSharedMetrics([{ name: 'gauges_readable', labels: {}, value: 0 }])
    }
  }
}
