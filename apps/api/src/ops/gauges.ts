import type { SharedMetrics } from '@toolyard/log/metrics'

/** Every figure of the whole installation, with what Prometheus shows of it. Names begin `toolyard_` in the answer. */
export const gauges = {
  gauges_readable:
    'Whether the figures of the whole could be read: 1 or 0. At 0 all others of them are missing',
  invocations_waiting:
    'Invocations that wait, by what for: open (a worker), held (the limit of the tool), delayed',
  invocations_running: 'Invocations that are running',
  invocations_oldest_waiting_seconds: 'Since when the oldest of them could have run: open, held',
  attempts_stale: 'Attempts that hold no lease any more and have not been taken back',
  relay_lag_seconds: 'How long the delayed invocation that is due longest has not been let in',
  queue_jobs: 'Jobs in the queue, by queue and state',
  images: 'Images of the versions that tools want, by state and engine',
  tools: 'Tools, by status; disabled and broken ones apart',
  processes: 'Processes that have reported lately, by kind and whether they are ready',
  worker_slots: 'What all living workers together can run at a time',
  tool_memory_weight: 'Weight of the tool in the memory',
  tool_memory_recent: 'Moving average of its successes',
  tool_budget_remaining: 'What the tool said last is left of its budget',
} as const

export type GaugeName = keyof typeof gauges
export type Reading = { name: GaugeName; labels: Readonly<Record<string, string>>; value: number }

/**
 * As another process would share them. They are in no registry of this process: each process gives its registry to the
 * others, who add up what they are given, and the queue would be as many times as long as there are processes.
 */
export function toSharedMetrics(readings: readonly Reading[]): SharedMetrics {
  const shared: unknown = [...new Set(readings.map(({ name }) => name))].map((name) => ({
    name: `toolyard_${name}`,
    help: gauges[name],
    type: 'gauge',
    aggregator: 'first',
    values: readings
      .filter((reading) => reading.name === name)
      .map(({ labels, value }) => ({ labels, value })),
  }))
  // safe because this is the JSON that a registry gives, and what becomes of it is tested
  return shared as SharedMetrics
}
