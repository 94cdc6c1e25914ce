import assert from 'node:assert/strict'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { Tick } from './tick.ts'

// One that waited has a row, and no other may have: two runs of one tick would be two invocations.
// index: ticks_pkey
const write = prepared(`
  insert into ticks as known (tool, tick_at, origin, fate, reason, invocation_id, ended_at)
  select tool, tick_at, origin, fate, reason, invocation_id,
    case when fate in ('skipped', 'missed') then clock_timestamp() end
  from json_to_recordset($1::json) as one (tool text, tick_at timestamptz, origin text, fate text, reason text,
    invocation_id text)
  on conflict (tool, tick_at) do update
  set fate = excluded.fate, reason = excluded.reason, invocation_id = excluded.invocation_id,
    ended_at = excluded.ended_at, written_at = clock_timestamp()
  where known.fate = 'buffered'`)

/** Under the locks of their schedules, with the invocations of those that fired. */
export async function writeTicks(sql: Sql, ticks: readonly Tick[]): Promise<void> {
  if (ticks.length === 0) return
  const rows = ticks.map(({ tickAt, invocationId, ...one }) => ({
    ...one,
    tick_at: tickAt,
    invocation_id: invocationId,
  }))
  const { rowCount } = await sql.query(write([JSON.stringify(rows)]))
  assert.equal(rowCount, ticks.length, 'a tick was decided twice')
}

// index: ticks_open
const mark = prepared(`
  update ticks set is_overtaken = true
  where tool = any($1) and fate = 'fired' and ended_at is null and not is_overtaken`)

/** What runs of these tools gives way to what is written next: see `cancelOvertaken`. */
export async function overtake(sql: Sql, tools: readonly string[]): Promise<void> {
  if (tools.length > 0) await sql.query(mark([tools]))
}
