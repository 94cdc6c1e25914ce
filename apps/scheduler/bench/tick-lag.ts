import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '@toolyard/db/pool'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import { createLogger } from '@toolyard/log/logger'
import { createMetrics } from '@toolyard/log/metrics'
import { createQueues } from '@toolyard/queue/queues'
import { prepareQueueSchema } from '@toolyard/queue/schema'
import { makeTools } from '@toolyard/schedules/bench/firing'
import { writeEnds } from '@toolyard/ends/write-ends'
import { serveSchedules } from '../src/schedules/serve-schedules.ts'

export type TickLagBench = { ticks: number; seconds: number; p50Ms: number; p99Ms: number; maxMs: number }

const perMinute = 500
const seconds = 60

/** From the time of a tick to the commit of its invocation: a scheduler with its queue, ticks spread over a minute. */
export async function benchTickLag(pool: Pool, databaseUrl: string): Promise<TickLagBench> {
  await prepareQueueSchema(pool)
  const patterns = Array.from(
    { length: perMinute },
    (_, index) => `${Math.floor((index * 60) / perMinute)} * * * * *`,
  )
  await makeTools(pool, patterns)
  const log = createLogger({ service: 'bench', level: 'error', destination: { write: () => {} } })
  const options = { databaseUrl, poolMax: 8, applicationName: 'toolyard-bench', redisPrefix: 'unused' }
  const queues = createQueues({ ...options, onError: () => {} })
  const afterCommit = createAfterCommit({ pool, queues, onFailure: () => {} })
  const metrics = createMetrics('scheduler')
  const context = { pool, queues, log, metrics, schemaFits: Promise.resolve() }
  const service = serveSchedules(context, { afterCommit, within: writeEnds(log) })
  try {
    // The first of them find all the alarms being set.
    await delay(5_000)
    const from = await databaseNow(pool)
    await delay((seconds + 1) * 1_000)
    return await readLags(pool, from)
  } finally {
    await service.drain({ timeoutMs: 5_000 })
    await afterCommit.settle()
    await queues.close()
  }
}

async function databaseNow(pool: Pool): Promise<Date> {
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now')
  return rows[0]?.now ?? new Date()
}

async function readLags(pool: Pool, from: Date): Promise<TickLagBench> {
  const { rows } = await pool.query<Omit<TickLagBench, 'seconds'>>(
    `select count(*)::integer as ticks,
       percentile_cont(0.5) within group (order by lag) as "p50Ms",
       percentile_cont(0.99) within group (order by lag) as "p99Ms", max(lag) as "maxMs"
     from (
       select (extract(epoch from written_at - tick_at) * 1000)::double precision as lag from ticks
       where fate = 'fired' and tick_at > $1 and tick_at <= $1 + $2 * interval '1 second'
     ) as lags`,
    [from, seconds],
  )
  const [row] = rows
  assert.equal(row?.ticks, perMinute, 'each has a tick in the minute')
  return { ...row, seconds }
}
