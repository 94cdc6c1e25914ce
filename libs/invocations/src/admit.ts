import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { ReadyJob } from './after-commit.ts'
import { workerAliveSeconds } from './limits.ts'

// Admission. A tool has at most `limit` rows behind an open gate, in the queue or in workers; the others are held. The
// lock of the tool's row stands around every opening, and whoever closes or reopens the gate of a row takes it too
// before its commit. So two openings cannot both count the same free slot, and a slot that is freed while a row is
// being held is seen by the one or by the other: the limit is never passed, and no row is forgotten.
//
// The order of locks: idempotency keys (sorted), rows of invocations, memory, then tools (sorted). Whoever holds a tool
// never waits for a row of an invocation: rows that others hold are skipped.

/** `version` is the tool's; half of all live slots where it names no limit. */
export const limitOfTool = `
  coalesce(
    (version.manifest #>> '{constraints,concurrency}')::integer,
    greatest(1, (
      select coalesce(sum(slots), 0) from workers
      where seen_at > statement_timestamp() - interval '${workerAliveSeconds} seconds'
    )::integer / 2))`

// A process that is stopped while it has the lock would keep everybody from the tool for the 30 s of the pool.
const lock = prepared(`
  select name, set_config('idle_in_transaction_session_timeout', '5s', true)
  from tools where name = any($1) order by name for no key update`)

const limits = `
  select tools.name, ${limitOfTool} as slots
  from tools
  left join tool_versions as version
    on version.tool = tools.name and version.hash = coalesce(tools.current_hash, tools.wanted_hash)
  where tools.name = any($1)`

const load = `
  load as materialized (
    select known.name,
      known.slots - (select count(*) from invocations where tool = known.name and gate = 'open') as free
    from (${limits}) as known
  )`

/**
 * Whether rows of this tool wait for a slot. Not `exists`, which drops the order: without it the planner, who believes
 * that many rows are held, looks for the first of them from the start of the table.
 */
export const hasHeld = (tool: string) =>
  `(select id from invocations where tool = ${tool} and gate = 'held' order by priority desc, id limit 1) is not null`

// indexes: invocations_open, invocations_held.
// An array of ids and not a join: for a join the planner would read the whole table.
const openNext = prepared(`
  with ${load},
  next as materialized (
    select candidate.id
    from load
    cross join lateral (
      select id from invocations
      where tool = load.name and gate = 'held'
      order by priority desc, id
      limit greatest(load.free, 0)
      for update skip locked
    ) as candidate
  )
  update invocations set gate = 'open'
  where invocations.id = any(array(select id from next))
  returning invocations.id, invocations.attempts + 1 as attempt, invocations.priority`)

const openOne = `
  with ${load},
  next as materialized (
    select id from invocations
    where id = $2 and gate in ('held', 'delayed') and not_before <= statement_timestamp()
    for update skip locked
  )
  update invocations set gate = case when load.free > 0 then 'open' else 'held' end
  from load
  where invocations.id = any(array(select id from next)) and load.name = invocations.tool
  returning invocations.gate`

// Costs a fifth of the statement that admits, and mostly nobody waits.
const findCrowded = prepared(`select name from tools where name = any($1) and ${hasHeld('tools.name')}`)

/** Must be a statement of its own: what follows then sees all that was committed before the lock was given. */
export async function lockTools(sql: Sql, tools: Iterable<string>): Promise<void> {
  await sql.query(lock([[...new Set(tools)]]))
}

/** Gives free slots of these tools to the rows that are held, by priority, then by age. Within a transaction. */
export async function admitNext(sql: Sql, tools: Iterable<string>): Promise<ReadyJob[]> {
  const names = [...new Set(tools)]
  if (names.length === 0) return []
  const [, crowded] = await Promise.all([
    lockTools(sql, names),
    sql.query<{ name: string }>(findCrowded([names])),
  ])
  if (crowded.rowCount === 0) return []
  return openHeld(
    sql,
    crowded.rows.map(({ name }) => name),
  )
}

/** For whoever has the lock already. */
export async function openHeld(sql: Sql, tools: readonly string[]): Promise<ReadyJob[]> {
  const opened = await sql.query<ReadyJob>(openNext([tools]))
  return opened.rows
}

/**
 * Whether this row has got a slot. One whose time has come and that got none is held from here on, so that whoever
 * frees a slot finds it. Within a transaction.
 */
export async function admitOne(sql: Sql, tool: string, id: string): Promise<boolean> {
  await lockTools(sql, [tool])
  const opened = await sql.query<{ gate: string }>(openOne, [[tool], id])
  return opened.rows[0]?.gate === 'open'
}
