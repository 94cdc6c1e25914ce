import type { Pool } from '@toolyard/db/pool'
import { readVersion } from './read-version.ts'
import { nextTickOf, servedHash } from './schedule.ts'

const pageMax = 500

// Tools that have no schedule; what they are is read here once, and after that with every version that serves.
const selectNew = `
  select tools.name as tool, version.hash, version.manifest
  from tools
  join tool_versions as version
    on version.tool = tools.name and version.hash = coalesce(tools.current_hash, tools.wanted_hash)
  left join schedules on schedules.tool = tools.name
  where tools.removed_at is null and schedules.tool is null and tools.name > $1
    and version.manifest #>> '{trigger,type}' = 'cron'
  order by tools.name limit ${pageMax}`

// Ticks count from now on. Whoever comes second finds it made.
const insert = `
  insert into schedules (tool, hash, asked, call, last_tick_at, next_tick_at)
  select tool, hash, asked, call, $2::timestamptz, next_tick_at
  from json_to_recordset($1::json)
    as one (tool text, hash text, asked jsonb, call json, next_tick_at timestamptz)
  on conflict (tool) do nothing`

const selectStale = `
  select schedules.tool from schedules left join tools on tools.name = schedules.tool
  where schedules.hash <> ${servedHash}
  order by schedules.tool limit 10000`

/** Gives every cron tool its schedule. Answers those whose version is not the one that serves: `settle` adopts that. */
export async function syncSchedules(pool: Pool, now: Date): Promise<string[]> {
  for (let after = ''; ;) {
    const { rows } = await pool.query<{ tool: string; hash: string; manifest: unknown }>(selectNew, [after])
    const schedules = rows.flatMap(({ tool, hash, manifest }) => {
      const version = readVersion(manifest)
      if (version === undefined) return []
      const fresh = { ...version, overrides: {}, is_active: true, paused_at: null, last_tick_at: now }
      return [{ tool, hash, ...version, next_tick_at: nextTickOf(fresh) }]
    })
    if (schedules.length > 0) await pool.query(insert, [JSON.stringify(schedules), now])
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageMax) break
    after = last.tool
  }
  const stale = await pool.query<{ tool: string }>(selectStale)
  return stale.rows.map(({ tool }) => tool)
}
