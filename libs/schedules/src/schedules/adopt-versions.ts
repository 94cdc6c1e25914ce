import type { Sql } from '@toolyard/db/pool'
import type { LockedSchedule } from './lock-schedules.ts'
import { readVersion } from './read-version.ts'
import type { ScheduleRow, Timing } from './schedule.ts'
import { later } from './schedule.ts'

/**
 * A schedule as it stands with the version that serves now. What is due until now is due by the timing of before, and
 * runs as the new version wants it; `asked` takes over after that.
 */
export type Adopted = { row: ScheduleRow; before: ScheduleRow; isChanged: boolean; asked: Timing }

// index: tool_versions_pkey
const readManifests = `
  select tool, manifest from tool_versions
  where (tool, hash) in (select * from unnest($1::text[], $2::text[]))`

/** Brings schedules that this transaction has locked to the versions that serve. */
export async function adoptVersions(
  sql: Sql,
  rows: readonly LockedSchedule[],
  now: Date,
): Promise<Adopted[]> {
  const stale = rows.filter((row) => row.served_hash !== row.hash)
  if (stale.length === 0) return rows.map(asBefore)
  const found = await sql.query<{ tool: string; manifest: unknown }>(readManifests, [
    stale.map(({ tool }) => tool),
    stale.map(({ served_hash: hash }) => hash),
  ])
  const manifests = new Map(found.rows.map(({ tool, manifest }) => [tool, manifest]))
  return rows.map((row) =>
    row.served_hash === row.hash ? asBefore(row) : adopt(row, manifests.get(row.tool), now),
  )
}

const asBefore = (row: LockedSchedule): Adopted => ({ row, before: row, isChanged: false, asked: row.asked })

function adopt(before: LockedSchedule, manifest: unknown, now: Date): Adopted {
  const hash = before.served_hash
  const version = manifest === undefined ? undefined : readVersion(manifest)
  const changed = { before, isChanged: true }
  // What it was before it went is kept for when it comes back.
  if (version === undefined)
    return { ...changed, row: { ...before, hash, is_active: false }, asked: before.asked }
  const { asked, call } = version
  const row = { ...before, hash, call, is_active: true }
  // While it was away nothing was due.
  return before.is_active
    ? { ...changed, row, asked }
    : { ...changed, row: { ...row, asked, last_tick_at: later(before.last_tick_at, now) }, asked }
}
