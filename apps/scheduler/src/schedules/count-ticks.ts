import type { Metrics } from '@toolyard/log/metrics'
import type { Tick } from '@toolyard/schedules/tick'

/** Counts what became of ticks: fired, skipped for an overlap, missed; and how late those of schedules came. */
export function countTicks(metrics: Metrics): (ticks: readonly Tick[]) => void {
  const total = metrics.counter('ticks_total', 'Ticks of schedules by what became of them', [
    'fate',
    'origin',
  ])
  const lag = metrics.histogram(
    'tick_lag_seconds',
    'From the time of a tick of a schedule to the commit of its invocation',
  )
  return (ticks) => {
    for (const { fate, origin, tickAt } of ticks) {
      total.add({ fate, origin })
      if (fate === 'fired' && origin === 'schedule')
        lag.observe({}, Math.max(0, Date.now() - tickAt.getTime()) / 1_000)
    }
  }
}
