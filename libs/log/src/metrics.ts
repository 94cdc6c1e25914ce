import type { MetricObject } from 'prom-client'
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

type Labels = Readonly<Record<string, string | number>>

/** As one process gives it away and another takes it; JSON. */
export type SharedMetrics = MetricObject[]

/** What one process counts, rendered for Prometheus. Names begin `toolyard_`, units are in the name. */
export type Metrics = {
  counter(
    name: string,
    help: string,
    labels?: readonly string[],
  ): { add(labels: Labels, amount?: number): void }
  gauge(name: string, help: string, labels?: readonly string[]): { set(labels: Labels, value: number): void }
  histogram(
    name: string,
    help: string,
    labels?: readonly string[],
    buckets?: readonly number[],
  ): { observe(labels: Labels, value: number): void }
  /** What this process counted of its own, for another to render. Without the figures of the runtime. */
  share(): Promise<SharedMetrics>
  /** Everything of this process, added up with what others shared. */
  render(others?: readonly SharedMetrics[]): Promise<{ contentType: string; text: string }>
}

// From a warm in-process answer to a long poll.
const defaultSecondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  // Apart from what is shared: the heap of one process added to that of another means nothing.
  const runtime = new Registry()
  runtime.setDefaultLabels({ service })
  collectDefaultMetrics({ register: runtime, prefix: 'toolyard_' })
  const share = async (): Promise<SharedMetrics> => registry.getMetricsAsJSON()
  const named = (name: string, help: string, labels: readonly string[] = []) => ({
    name: `toolyard_${name}`,
    help,
    labelNames: [...labels],
    registers: [registry],
  })
  return {
    counter(name, help, labels) {
      const counter = new Counter(named(name, help, labels))
      return { add: (values, amount = 1) => counter.inc({ ...values }, amount) }
    },
    gauge(name, help, labels) {
      const gauge = new Gauge(named(name, help, labels))
      return { set: (values, value) => gauge.set({ ...values }, value) }
    },
    histogram(name, help, labels, buckets = defaultSecondsBuckets) {
      const histogram = new Histogram({ ...named(name, help, labels), buckets: [...buckets] })
      return { observe: (values, value) => histogram.observe({ ...values }, value) }
    },
    share,
    async render(others = []) {
      const together = AggregatorRegistry.aggregate([...others, await share()])
      const texts = [await together.metrics(), await runtime.metrics()]
      return { contentType: registry.contentType, text: texts.join('\n') }
    },
  }
}
