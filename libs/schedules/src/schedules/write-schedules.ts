import assert from 'node:assert/strict'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { ScheduleRow } from './schedule.ts'

// Rows come as JSON, because Postgres guesses their number without looking: one plan is as good as another then, and is
// made once. Their names come once more, because for as many as it guesses it would read the whole table. How runs end is
// not written here, but by those who end them: see `end-ticks.ts`.

// index: schedules_pkey
const writeProgress = prepared(`
  update schedules
  set last_tick_at = one.last_tick_at, next_tick_at = one.next_tick_at,
    fired_count = one.fired_count, skipped_count = one.skipped_count, missed_count = one.missed_count
  from json_to_recordset($1::json) as one (tool text, last_tick_at timestamptz, next_tick_at timestamptz,
    fired_count integer, skipped_count integer, missed_count integer)
  where schedules.tool = one.tool and schedules.tool = any($2)`)

// index: schedules_pkey
const writeChange = prepared(`
  update schedules
  set hash = one.hash, asked = one.asked, overrides = one.overrides, call = one.call, is_active = one.is_active,
    last_tick_at = one.last_tick_at, next_tick_at = one.next_tick_at,
    paused_at = one.paused_at, paused_reason = one.paused_reason, failures = one.failures,
    fired_count = one.fired_count, skipped_count = one.skipped_count, missed_count = one.missed_count
  from json_to_recordset($1::json) as one (tool text, hash text, asked jsonb, overrides jsonb, call json,
    is_active boolean, last_tick_at timestamptz, next_tick_at timestamptz, paused_at timestamptz, paused_reason text,
    failures integer, fired_count integer, skipped_count integer, missed_count integer)
  where schedules.tool = one.tool and schedules.tool = any($2)`)

/** How far they have come: that alone, because a row may hold large params. Of rows that this transaction has locked. */
export async function moveSchedules(sql: Sql, rows: readonly ScheduleRow[]): Promise<void> {
  if (rows.length === 0) return
  const progress = rows.map(
    ({ tool, last_tick_at, next_tick_at, fired_count, skipped_count, missed_count }) => ({
      tool,
      last_tick_at,
      next_tick_at,
      fired_count,
      skipped_count,
      missed_count,
    }),
  )
  const { rowCount } = await sql.query(writeProgress([JSON.stringify(progress), rows.map(toolOf)]))
  assert.equal(rowCount, rows.length, 'a schedule went away although it was locked')
}

/** As a whole. Of rows that this transaction has locked. */
export async function writeSchedules(sql: Sql, rows: readonly ScheduleRow[]): Promise<void> {
  if (rows.length === 0) return
  const { rowCount } = await sql.query(writeChange([JSON.stringify(rows), rows.map(toolOf)]))
  assert.equal(rowCount, rows.length, 'a schedule went away although it was locked')
}

const toolOf = ({ tool }: ScheduleRow) => tool
