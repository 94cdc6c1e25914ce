import type { Metrics } from '@toolyard/log/metrics'
import type { DockerSandboxesOptions } from '@toolyard/sandbox/create-docker-sandboxes'

type StockListener = NonNullable<DockerSandboxesOptions['onEvent']>

// From a sandbox that stands ready to one that an engine under load has to make.
const startSeconds = [0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30]
const waitSeconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 5, 30]
const ageSeconds = [0.1, 1, 5, 15, 60, 300, 900, 3_600]

/** Counts what becomes of the stock: hits and misses by where a sandbox came from, waits, ages, starts, losses. */
export function countStock(metrics: Metrics): StockListener {
  const taken = metrics.counter('sandbox_taken_total', 'Sandboxes taken, by where they came from', [
    'tool',
    'source',
  ])
  const wait = metrics.histogram(
    'sandbox_wait_seconds',
    'From asking for a sandbox to having it',
    ['source'],
    waitSeconds,
  )
  const age = metrics.histogram(
    'sandbox_age_seconds',
    'How long a taken sandbox had stood ready',
    [],
    ageSeconds,
  )
  const start = metrics.histogram('sandbox_start_seconds', 'Making and starting a sandbox', [], startSeconds)
  const failed = metrics.counter('sandbox_start_failed_total', 'Starts that failed', ['tool'])
  const retired = metrics.counter('sandbox_retired_total', 'Sandboxes that were never used', ['reason'])
  return (event) => {
    if (event.kind === 'taken') {
      taken.add({ tool: event.tool, source: event.source })
      wait.observe({ source: event.source }, event.waitMs / 1_000)
      if (event.source === 'stock') age.observe({}, event.ageMs / 1_000)
    } else if (event.kind === 'started') start.observe({}, event.startMs / 1_000)
    else if (event.kind === 'start_failed') failed.add({ tool: event.tool })
    else retired.add({ reason: event.reason })
  }
}
