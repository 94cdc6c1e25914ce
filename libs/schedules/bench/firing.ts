import assert from 'node:assert/strict'
import type { Pool } from '@toolyard/db/pool'
import { syncSchedules } from '../src/schedules/sync-schedules.ts'
import type { ScheduleDeps } from '../src/ticks/fire-due.ts'
import { createScheduleDeps } from '../src/ticks/fire-due.ts'
import { reconcile } from '../src/ticks/reconcile.ts'

export type FiringBench = {
  schedules: number
  ticks: number
  /** To give all tools their schedules. */
  syncMs: number
  /** The hour, minute by minute. */
  totalMs: number
  slowestMinuteMs: number
  slowestMinuteTicks: number
  /** A look at all schedules when nothing is due. */
  idleMs: number
}

const startMs = Date.UTC(2031, 4, 5, 10)
const minuteMs = 60_000
const hours = [
  ...Array.from({ length: 60 }, () => ({ pattern: () => '*/30', ticks: 2 })),
  ...Array.from({ length: 20 }, () => ({ pattern: (index: number) => `${index % 60} * * * *`, ticks: 1 })),
  ...Array.from({ length: 10 }, () => ({ pattern: () => '*/15', ticks: 4 })),
  ...Array.from({ length: 9 }, () => ({ pattern: () => '*/10', ticks: 6 })),
  { pattern: () => '* * * * *', ticks: 60 },
]

/** How long schedules take to be fired, each tick once, without queue and workers; `pool` holds nothing else. */
export function benchFiring(pool: Pool, schedules = 10_000): Promise<FiringBench> {
  return benchHour(createScheduleDeps({ pool, afterCommit: { run: () => {} }, within: undefined }), schedules)
}

async function benchHour(deps: ScheduleDeps, schedules: number): Promise<FiringBench> {
  const kinds = Array.from({ length: schedules }, (_, index) => hours[index % hours.length])
  await makeTools(
    deps.pool,
    kinds.map((kind, index) => kind?.pattern(Math.floor(index / hours.length)) ?? ''),
  )
  const [, syncMs] = await timed(() => syncSchedules(deps.pool, new Date(startMs)))
  const [, idleMs] = await timed(() => reconcile(deps, new Date(startMs)))
  const minutes: { ms: number; count: number }[] = []
  for (let minute = 1; minute <= 60; minute++) {
    const [ticks, ms] = await timed(() => reconcile(deps, new Date(startMs + minute * minuteMs)))
    minutes.push({ ms, count: ticks.length })
  }
  const expected = kinds.reduce((sum, kind) => sum + (kind?.ticks ?? 0), 0)
  await assertEachOnce(deps.pool, expected)
  const slowest = minutes.reduce((a, b) => (a.ms > b.ms ? a : b))
  return {
    schedules,
    ticks: expected,
    syncMs,
    totalMs: minutes.reduce((sum, { ms }) => sum + ms, 0),
    slowestMinuteMs: slowest.ms,
    slowestMinuteTicks: slowest.count,
    idleMs,
  }
}

async function assertEachOnce(pool: Pool, expected: number): Promise<void> {
  const { rows } = await pool.query<{ fired: number; moments: number; calls: number; other: number }>(`
    select count(*) filter (where fate = 'fired')::integer as fired,
      count(distinct (tool, tick_at))::integer as moments,
      (select count(*)::integer from invocations) as calls,
      count(*) filter (where fate <> 'fired')::integer as other
    from ticks`)
  assert.deepEqual(rows, [{ fired: expected, moments: expected, calls: expected, other: 0 }])
}

/** Cron tools with these patterns, as a worker leaves them. */
export async function makeTools(pool: Pool, patterns: readonly string[]): Promise<void> {
  const tools = patterns.map((schedule, index) => ({
    name: `bench_${index}`,
    manifest: {
      name: `bench_${index}`,
      description: 'Bench',
      trigger: { type: 'cron', schedule, prompt: 'Bench:', overlap: 'allow' },
      parameters: {},
      returns: {},
    },
  }))
  await pool.query(
    `with wanted as (select * from json_to_recordset($1::json) as one (name text, manifest json)),
     version as (insert into tool_versions (tool, hash, version, manifest) select name, name, 'v', manifest from wanted
       on conflict (tool, hash) do update set manifest = excluded.manifest)
     insert into tools (name, wanted_hash, current_hash) select name, name, name from wanted on conflict do nothing`,
    [JSON.stringify(tools)],
  )
}

async function timed<T>(work: () => Promise<T>): Promise<[T, ms: number]> {
  const startedMs = performance.now()
  const done = await work()
  return [done, performance.now() - startedMs]
}
