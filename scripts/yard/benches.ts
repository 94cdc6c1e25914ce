import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchWarmKey } from '@toolyard/access/bench/warm-key'
import { benchScan } from '@toolyard/catalog/bench/scan'
import { benchListTools } from '@toolyard/api/bench/list-tools'
import { benchWarmRequest } from '@toolyard/api/bench/warm-request'
import type { Pool } from '@toolyard/db/pool'
import { describePlans } from '@toolyard/invocations/bench/describe-plans'
import { compareTables, describeTimes, fillTables, ratioMax } from '@toolyard/invocations/bench/large-table'
import { benchThroughput } from '@toolyard/invocations/bench/throughput'
import { benchHotTool } from '@toolyard/memory/bench/hot-tool'
import { benchSanitize } from '@toolyard/sanitize/bench/sanitize'
import { benchFiring } from '@toolyard/schedules/bench/firing'
import { benchTicksDue } from '@toolyard/schedules/bench/ticks-due'
import { benchTickLag } from '@toolyard/scheduler/bench/tick-lag'
import { benchFanOut } from '@toolyard/webhooks/bench/fan-out'
import { benchSandbox } from '@toolyard/sandbox/bench/sandbox'
import { benchEndToEnd, describeEndToEnd } from '../end-to-end/bench-end-to-end.ts'
import type { Progress } from '../services/terminal/progress.ts'

/** One measured thing: its rows for a person, and everything for a program. */
export type Measured = {
  rows: readonly (readonly [what: string, value: string])[]
  result: object
  /** What is over its budget, where it has one. */
  faults?: readonly string[]
}

/** What a bench can ask for; it is started for it and gone afterwards. */
export type Ground = {
  withDatabase: <T>(work: (pool: Pool, databaseUrl: string) => Promise<T>) => Promise<T>
  withEngine: <T>(work: (dockerHost: string) => Promise<T>) => Promise<T>
  progress: Progress
}

/** Measured only when they are named: a quarter of an hour and 20 GB of disk, and some minutes. */
export const longBenches: readonly string[] = ['large-table', 'sanitize']

const plansPage = join(import.meta.dirname, '../../docs/ops/plans.md')

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
  'large-table': async ({ withDatabase }) => {
    const result = await withDatabase((_few, small) =>
      withDatabase(async (_many, large) => {
        await fillTables({ small, large })
        return compareTables({ small, large })
      }),
    )
    writeFileSync(plansPage, describePlans(result))
    const over = result.verbs.filter(({ isBounded, ratio }) => isBounded && !(ratio <= ratioMax))
    return {
      result,
      rows: [
        [
          `with ${result.small} calls, with ${result.large}`,
          `${Math.round(result.largeBytes / 2 ** 30)} GiB`,
        ],
        ...result.verbs.map((verb) => [verb.name, describeTimes(verb)] as const),
      ],
      faults: over.map(({ name, ratio }) => `${name}: × ${ratio.toFixed(2)}, more than × ${ratioMax}`),
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
  firing: async ({ withDatabase }) => {
    const result = await withDatabase((pool) => benchFiring(pool))
    const { schedules, ticks, totalMs, slowestMinuteMs, slowestMinuteTicks, idleMs } = result
    const slowest = `${Math.round(slowestMinuteMs)} ms for ${slowestMinuteTicks} ticks`
    return {
      result,
      rows: [
        [`an hour of ${schedules} schedules, simulated`, `${ticks} ticks in ${Math.round(totalMs)} ms`],
        ['its slowest minute', slowest],
        ['a look at all of them when nothing is due', `${Math.round(idleMs)} ms`],
      ],
    }
  },
  'ticks-due': async () => {
    const result = benchTicksDue()
    const { schedules, readMs, firstMinuteMs, minuteMs, missedDayMs } = result
    const ms = (value: number) => `${Math.round(value)} ms`
    return {
      result,
      rows: [
        [`read ${schedules} patterns, in forty zones`, ms(readMs)],
        ['find what was due of them in a minute', `${ms(minuteMs)}, at first ${ms(firstMinuteMs)}`],
        ['and in a day that was missed', ms(missedDayMs)],
      ],
    }
  },
  sanitize: async () => {
    const result = benchSanitize()
    return {
      result,
      rows: result.map(({ name, ms, doubleMs }) => [
        name,
        `${ms.toFixed(1)} ms, twice as much ${doubleMs.toFixed(1)} ms`,
      ]),
    }
  },
  'tick-lag': async ({ withDatabase }) => {
    const result = await withDatabase(benchTickLag)
    const { ticks, seconds, p50Ms, p99Ms, maxMs } = result
    const lag = `p50 ${Math.round(p50Ms)} ms, p99 ${Math.round(p99Ms)} ms, at most ${Math.round(maxMs)} ms`
    return {
      result,
      rows: [[`${ticks} ticks over ${seconds} s, to the commit of the call`, `${lag} (budget: p99 500)`]],
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
