import type { Sql } from '@toolyard/db/pool'
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

/** The processes of this installation that have said lately that they live. */
export async function listProcesses(sql: Sql): Promise<ProcessRow[]> {
  const found = await sql.query<ProcessRow>(select, [believedMs / 1_000])
  return found.rows
}
