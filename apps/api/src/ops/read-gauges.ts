import type { Catalog } from '@toolyard/catalog/create-catalog'
import type { Pool } from '@toolyard/db/pool'
import { staleGraceSeconds, workerAliveSeconds } from '@toolyard/invocations/limits'
import type { Queues } from '@toolyard/queue/queues'
import { listProcesses } from '@toolyard/service/list-processes'
import { statusOf } from '@toolyard/vault/status-of'
import { storedKeys } from '@toolyard/vault/stored-keys'
import { listQueueNames } from './board-queues.ts'
import type { GaugeName, Reading } from './gauges.ts'

export type ReadGaugesDeps = { pool: Pool; catalog: Catalog; queues: Pick<Queues, 'counts'> }

// indexes: invocations_delayed and invocations_held, both read without their rows; invocations_open, which holds no more
// rows than the tools have slots. Ids are sortable by time, so the least of the held is the oldest. With 80,000 waiting
// beside 100,000 that ended: 10 ms, or 20 before a vacuum.
const selectRows = `
  select open.queued, open.running, open.stale, open.oldest,
    held.count as held, delayed.count as delayed,
    extract(epoch from clock_timestamp() - delayed.first)::float8 as overdue,
    extract(epoch from clock_timestamp() - (select due_at from invocations where id = held.first))::float8
      as oldest_held
  from (
    select count(*) filter (where status = 'queued')::integer as queued,
      count(*) filter (where status = 'running')::integer as running,
      count(*) filter (
        where status = 'running' and lease_until < clock_timestamp() - make_interval(secs => $1)
      )::integer as stale,
      extract(epoch from clock_timestamp()
        - min(greatest(due_at, not_before)) filter (where status = 'queued'))::float8 as oldest
    from invocations where gate = 'open'
  ) as open,
  (select count(*)::integer, min(id) as first from invocations where gate = 'held') as held,
  (select count(*)::integer, min(not_before) as first from invocations where gate = 'delayed') as delayed`

type Rows = Record<'queued' | 'running' | 'stale' | 'held' | 'delayed', number> &
  Record<'oldest' | 'oldest_held' | 'overdue', number | null>

const selectImages = `
  select image.engine_id, image.state, count(*)::integer as count
  from tools as tool
  join images as image on image.hash = tool.wanted_hash
  where tool.removed_at is null
  group by image.engine_id, image.state
  order by image.engine_id, image.state
  limit 1000`

const selectSlots = `
  select coalesce(sum(slots), 0)::integer as slots from workers
  where seen_at > clock_timestamp() - make_interval(secs => $1)`

const selectMemory = `
  select memory.tool, memory.weight, memory.recent, memory.budget_remaining
  from tools as tool
  join tool_memory as memory on memory.tool = tool.name
  where tool.removed_at is null
  order by memory.tool
  limit 1000`

/** Reads every figure of the whole once. What it costs does not grow with the invocations that have ended. */
export async function readGauges(deps: ReadGaugesDeps): Promise<Reading[]> {
  const { pool } = deps
  const parts = await Promise.all([
    readRows(pool),
    readImages(pool),
    readTools(deps),
    readProcesses(pool),
    readMemory(pool),
    readJobs(deps),
  ])
  return [reading('gauges_readable', 1), ...parts.flat()]
}

async function readRows(pool: Pool): Promise<Reading[]> {
  const [found, workers] = await Promise.all([
    pool.query<Rows>(selectRows, [staleGraceSeconds]),
    pool.query<{ slots: number }>(selectSlots, [workerAliveSeconds]),
  ])
  const row = found.rows[0]
  if (row === undefined) return []
  return [
    reading('invocations_waiting', row.queued, { gate: 'open' }),
    reading('invocations_waiting', row.held, { gate: 'held' }),
    reading('invocations_waiting', row.delayed, { gate: 'delayed' }),
    reading('invocations_running', row.running),
    reading('invocations_oldest_waiting_seconds', atLeastZero(row.oldest), { gate: 'open' }),
    reading('invocations_oldest_waiting_seconds', atLeastZero(row.oldest_held), { gate: 'held' }),
    reading('attempts_stale', row.stale),
    reading('relay_lag_seconds', atLeastZero(row.overdue)),
    reading('worker_slots', workers.rows[0]?.slots ?? 0),
  ]
}

async function readImages(pool: Pool): Promise<Reading[]> {
  const { rows } = await pool.query<{ engine_id: string; state: string; count: number }>(selectImages)
  return rows.map((row) => reading('images', row.count, { engine: row.engine_id, state: row.state }))
}

const nothing: ReadonlySet<string> = new Set()

async function readTools({ pool, catalog }: ReadGaugesDeps): Promise<Reading[]> {
  const [view, stored] = await Promise.all([catalog.view(), storedKeys(pool)])
  const counts = new Map(['system', 'available', 'connected', 'disabled', 'broken'].map((word) => [word, 0]))
  for (const { name, manifest, enabled } of view.tools) {
    const schema = manifest?.config_schema
    const working = schema === undefined ? 'broken' : statusOf(schema, stored.get(name) ?? nothing)
    const status = enabled ? working : 'disabled'
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return [...counts].map(([status, count]) => reading('tools', count, { status }))
}

async function readProcesses(pool: Pool): Promise<Reading[]> {
  const processes = await listProcesses(pool)
  return (['api', 'worker', 'scheduler'] as const).flatMap((kind) =>
    [true, false].map((ready) => {
      const alike = processes.filter((one) => one.kind === kind && one.ready === ready)
      return reading('processes', alike.length, { kind, ready: String(ready) })
    }),
  )
}

async function readMemory(pool: Pool): Promise<Reading[]> {
  const { rows } = await pool.query<{
    tool: string
    weight: number
    recent: number
    budget_remaining: number | null
  }>(selectMemory)
  return [
    ...rows.map(({ tool, weight }) => reading('tool_memory_weight', weight, { tool })),
    ...rows.map(({ tool, recent }) => reading('tool_memory_recent', recent, { tool })),
    ...rows.flatMap(({ tool, budget_remaining: left }) =>
      left === null ? [] : [reading('tool_budget_remaining', left, { tool })],
    ),
  ]
}

/** The queue is a hint, and may be away while all else is well: then only its own figures are missing. */
async function readJobs({ pool, queues }: ReadGaugesDeps): Promise<Reading[]> {
  const names = await listQueueNames(pool)
  const counted = await Promise.allSettled(names.map((name) => queues.counts(name)))
  return counted.flatMap((result, index) => {
    if (result.status === 'rejected') return []
    return Object.entries(result.value).map(([state, count]) =>
      reading('queue_jobs', count, { queue: names[index] ?? '', state }),
    )
  })
}

const reading = (name: GaugeName, value: number, labels: Reading['labels'] = {}): Reading => ({
  name,
  labels,
  value,
})

const atLeastZero = (seconds: number | null) => Math.max(0, seconds ?? 0)
