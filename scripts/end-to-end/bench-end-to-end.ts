import type { RawAddBench } from '@toolyard/queue/bench/raw-add'
import { benchRawAdd } from '@toolyard/queue/bench/raw-add'
import type { QueueKind } from '../house/open-house.ts'
import type { Progress } from '../services/terminal/progress.ts'
import type { Latency } from './measure.ts'
import { measureBatch, measureLatency, measureRate, residentBytes } from './measure.ts'
import type { BenchHouse } from './open-bench-house.ts'
import { withBenchHouse } from './open-bench-house.ts'
import { tools } from './tools.ts'

export type EndToEndBench = {
  queue: QueueKind
  /** From the request to its answer with the result. */
  stock: Latency
  reuse: Latency
  reusedPerSecond: number
  /** 202s, each durable, while no worker runs. */
  acceptedPerSecond: number
  rawAdds: RawAddBench[]
  /** Accepted per raw add in the same run: with 50 in flight on Postgres, one after the other on Redis. */
  shareOfRaw: number
  residentBytes: Record<string, number>
}

const latency = { perSecond: 2, seconds: 30 }
const sustained = { inFlight: 32, seconds: 15 }
const accepting = { inFlight: 50, count: 6_000 }
const rawCount = 4_000
const warmCalls = 300
// For a stock that was emptied, at seven a second.
const fillSeconds = 3

/** The whole path over HTTP through real processes. */
export async function benchEndToEnd(
  queue: QueueKind,
  dockerHost: string,
  progress: Progress,
): Promise<EndToEndBench> {
  return withBenchHouse({ queue, dockerHost, progress }, async ({ house, client }) => {
    const once = (tool: string) => () => client.run(tool)
    const step = <T>(what: string, work: () => Promise<T>) => progress.step(`${what}, on ${queue}`, work)
    // The first calls of a process are those of a process that has just begun.
    await measureBatch(once(tools.reuse.name), { inFlight: 8, count: warmCalls })
    await measureLatency(once(tools.stock.name), { perSecond: 2, seconds: fillSeconds })
    const stock = await step('HTTP to result from stock', () =>
      measureLatency(once(tools.stock.name), latency),
    )
    const reuse = await step('HTTP to result reused', () => measureLatency(once(tools.reuse.name), latency))
    const reusedPerSecond = await step('Reused calls a second', () =>
      measureRate(once(tools.reuse.name), sustained),
    )
    const memory = residentBytes(house)
    const enqueue = await step('Accepted calls a second', () => measureAccepting({ house, client }))
    return { queue, stock, reuse, reusedPerSecond, ...enqueue, residentBytes: memory }
  })
}

async function measureAccepting({ house, client }: BenchHouse) {
  const { databaseUrl, redis, workers, scheduler } = house
  // What is accepted is only accepted: nobody else works for it meanwhile.
  for (const app of [...workers, scheduler]) {
    app.signal('SIGTERM')
    await app.ended()
  }
  const store = redis === undefined ? { databaseUrl } : { redisUrl: redis.url }
  const rawBefore = await benchRawAdd(store, { count: rawCount, inFlight: 50 })
  const acceptedPerSecond = await measureBatch(() => client.submit(tools.waiting.name), accepting)
  const rawAlone = await benchRawAdd(store, { count: rawCount / 2, inFlight: 1 })
  const compared = redis === undefined ? rawBefore : rawAlone
  return {
    acceptedPerSecond,
    rawAdds: [rawBefore, rawAlone],
    shareOfRaw: acceptedPerSecond / compared.perSecond,
  }
}

/** As rows of a table, with the design's budgets beside. */
export function describeEndToEnd(bench: EndToEndBench): [what: string, value: string][] {
  const { queue, stock, reuse, reusedPerSecond, acceptedPerSecond, rawAdds, shareOfRaw } = bench
  const ms = (value: number) => value.toFixed(1)
  const times = ({ p50Ms, p99Ms }: Latency) => `p50 ${ms(p50Ms)} ms, p99 ${ms(p99Ms)} ms (budget: 15 and 60)`
  const raw = rawAdds.map(({ inFlight, perSecond }) => `${perSecond}/s with ${inFlight} in flight`).join(', ')
  const budget = queue === 'postgres' ? 50 : 80
  const megabytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`
  const memory = Object.entries(bench.residentBytes).map(([name, bytes]) => `${name} ${megabytes(bytes)}`)
  return [
    [`HTTP to result from stock, 2 calls/s, ${queue}`, times(stock)],
    [`HTTP to result reused, 2 calls/s, ${queue}`, times(reuse)],
    [`reused calls through the whole path, ${queue}`, `${Math.round(reusedPerSecond)}/s (budget: 200)`],
    [
      `durable 202s at 50 connections, ${queue}`,
      `${Math.round(acceptedPerSecond)}/s, ${Math.round(shareOfRaw * 100)} % of raw add (budget: ${budget} %)`,
    ],
    [`raw BullMQ add, ${queue}`, raw],
    [`memory of each process, ${queue}`, memory.join(', ')],
  ]
}
