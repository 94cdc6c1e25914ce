import type { Sql } from '@toolyard/db/pool'
import type { SharedMetrics } from '@toolyard/log/metrics'
import type { Parts } from './part.ts'

export type ServiceKind = 'api' | 'worker' | 'scheduler'

export const announceEveryMs = 5_000
// Three announcements missed.
const believedMs = 15_000

export type ProcessRow = { kind: ServiceKind; ready: boolean; parts: Parts }

const select = `
  select kind, ready, parts
  from processes
  where seen_at > clock_timestamp() - make_interval(secs => $1)
  order by kind, id
  limit 1000`

// Longer than a process is believed to be well: as long as it may hold work without saying so.
const leaseMs = 30_000

/** The workers that may still hold something. Whatever belongs to others is the remains of a dead one. */
export async function listLiveWorkers(sql: Sql): Promise<ReadonlySet<string>> {
  const found = await sql.query<{ id: string }>(
    `select id from processes
     where kind = 'worker' and seen_at > clock_timestamp() - make_interval(secs => $1)
     limit 10000`,
    [leaseMs / 1_000],
  )
  return new Set(found.rows.map(({ id }) => id))
}

/** The processes of this installation that have said lately that they live. */
export async function listProcesses(sql: Sql): Promise<ProcessRow[]> {
  const found = await sql.query<ProcessRow>(select, [believedMs / 1_000])
  return found.rows
}

/** What the other living processes count, as of their last word. */
export async function listMetrics(sql: Sql, exceptId: string): Promise<SharedMetrics[]> {
  const found = await sql.query<{ metrics: SharedMetrics }>(
    `select metrics from processes
     where seen_at > clock_timestamp() - make_interval(secs => $1) and id <> $2
     order by kind, id
     limit 1000`,
    [believedMs / 1_000, exceptId],
  )
  return found.rows.map(({ metrics }) => metrics)
}
