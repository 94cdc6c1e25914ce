import type { Metrics } from '@toolyard/log/metrics'

export type AttemptCounts = {
  /** `kind`: the final status and the kind of a failure; or what kept the attempt from being the last. */
  ended(tool: string, kind: string): void
  running(count: number): void
  queued(tool: string, ms: number): void
  ran(tool: string, ms: number): void
  finishRetried(): void
  leaseLost(reason: 'lost' | 'unrenewed'): void
}

const queueSeconds = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800]
const runSeconds = [0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900]

export function countAttempts(metrics: Metrics): AttemptCounts {
  const outcomes = metrics.counter('attempts_total', 'Attempts that ended, by tool and how', [
    'tool',
    'outcome',
  ])
  const running = metrics.gauge('attempts_running', 'Attempts that this process holds')
  const queued = metrics.histogram(
    'invocation_queue_seconds',
    'From when an invocation might start to its claim',
    ['tool'],
    queueSeconds,
  )
  const ran = metrics.histogram('tool_run_seconds', 'The run of a tool in its sandbox', ['tool'], runSeconds)
  const retries = metrics.counter('finish_retries_total', 'Outcomes that could not be committed at once')
  const lost = metrics.counter('leases_lost_total', 'Attempts stopped because they were not held any more', [
    'reason',
  ])
  running.set({}, 0)
  return {
    ended: (tool, outcome) => outcomes.add({ tool, outcome }),
    running: (count) => running.set({}, count),
    queued: (tool, ms) => queued.observe({ tool }, ms / 1_000),
    ran: (tool, ms) => ran.observe({ tool }, ms / 1_000),
    finishRetried: () => retries.add({}),
    leaseLost: (reason) => lost.add({ reason }),
  }
}
