import { benchWarmKey } from '@toolyard/access/bench/warm-key'
import { benchScan } from '@toolyard/catalog/bench/scan'
import { benchListTools } from '@toolyard/api/bench/list-tools'
import { benchWarmRequest } from '@toolyard/api/bench/warm-request'
import type { Pool } from '@toolyard/db/pool'
import { benchThroughput } from '@toolyard/invocations/bench/throughput'
import { benchHotTool } from '@toolyard/memory/bench/hot-tool'
import { benchFanOut } from '@toolyard/webhooks/bench/fan-out'
import { benchSandbox } from '@toolyard/sandbox/bench/sandbox'
import { benchEndToEnd, describeEndToEnd } from '../end-to-end/bench-end-to-end.ts'
import type { Progress } from '../services/terminal/progress.ts'

/** One measured thing: its rows for a person, and everything for a program. */
export type Measured = { rows: readonly (readonly [what: string, value: string])[]; result: object }

/** What a bench can ask for; it is started for it and gone afterwards. */
export type Ground = {
  withDatabase: <T>(work: (pool: Pool, databaseUrl: string) => Promise<T>) => Promise<T>
  withEngine: <T>(work: (dockerHost: string) => Promise<T>) => Promise<T>
  progress: Progress
}

// Enough for a median on a machine where a container start takes a fifth of a second.
const sandboxCalls = 32

export const benches: Readonly<Record<string, (ground: Ground) => Promise<Measured>>> = {
  'warm-key': async ({ withDatabase }) => {
    const result = await withDatabase((pool) => benchWarmKey(pool))
    const { mean, p50, p99 } = result.perCallMicros
    const micros = (value: number) => `${value.toFixed(1)} µs`
    return {
      result,
      rows: [
        ['verify a warm key, mean', micros(mean)],
        ['verify a warm key, p50', micros(p50)],
        ['verify a warm key, p99', micros(p99)],
      ],
    }
  },
  'warm-request': async ({ withDatabase }) => {
    const result = await withDatabase(benchWarmRequest)
    const { guard, guarded } = result.meanMicros
    return {
      result,
      rows: [
        ['what a warm key adds to a request, mean', `${guard.toFixed(1)} µs`],
        ['a request with a warm key, without network, mean', `${guarded.toFixed(1)} µs`],
      ],
    }
  },
  scan: async () => {
    const result = await benchScan()
    const ms = (value: number) => `${Math.round(value)} ms`
    return {
      result,
      rows: [
        [`read the folders of ${result.tools} tools at a start`, ms(result.coldMs)],
        [`read them again`, ms(result.warmMs)],
      ],
    }
  },
  'list-tools': async ({ withDatabase }) => {
    const result = await withDatabase(benchListTools)
    const { tools, p50Ms, p99Ms } = result
    return {
      result,
      rows: [[`GET /tools with ${tools} tools`, `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`]],
    }
  },
  rows: async ({ withDatabase }) => {
    const result = await withDatabase((pool) => benchThroughput(pool))
    return {
      result,
      rows: [
        ['calls stored, 50 at a time', `${Math.round(result.submitsPerSecond)}/s`],
        ['calls claimed and finished, 16 at a time', `${Math.round(result.claimAndFinishPerSecond)}/s`],
      ],
    }
  },
  'hot-tool': async ({ withDatabase }) => {
    const result = await withDatabase((pool) => benchHotTool(pool))
    return {
      result,
      rows: Object.entries(result.perSecond).map(([what, rate]) => [
        `finished, ${result.atOnce} at once: ${what}`,
        `${Math.round(rate)}/s`,
      ]),
    }
  },
  deliveries: async ({ withDatabase }) => {
    const result = await withDatabase(benchFanOut)
    const { deliveries, receivers, hanging, p50Ms, p95Ms } = result
    return {
      result,
      rows: [
        [
          `${deliveries} messages to ${receivers} webhooks of which ${hanging} hang: arrived at the others`,
          `p50 ${Math.round(p50Ms)} ms, p95 ${Math.round(p95Ms)} ms (budget: 2,000)`,
        ],
      ],
    }
  },
  sandbox: async ({ withEngine }) => {
    const result = await withEngine((dockerHost) => benchSandbox(dockerHost, sandboxCalls))
    const rows = result.rows.map(({ way, concurrency, p50Ms, p99Ms, perSecond, cpuMsPerCall }) => {
      const times = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
      const costs = `${perSecond.toFixed(1)}/s, ${cpuMsPerCall.toFixed(1)} ms of cpu each`
      return [`${way}, ${concurrency} at a time`, `${times}, ${costs}`] as const
    })
    const kilobytes = Math.round((result.idleInitBytes ?? 0) / 1_024)
    return { result, rows: [...rows, ['the init of a waiting sandbox', `${kilobytes} kB resident`]] }
  },
  e2e: async ({ withEngine, progress }) => {
    const measured = await withEngine(async (dockerHost) => [
      await benchEndToEnd('postgres', dockerHost, progress),
      await benchEndToEnd('redis', dockerHost, progress),
    ])
    return { result: measured, rows: measured.flatMap(describeEndToEnd) }
  },
}
