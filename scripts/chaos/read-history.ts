import type { Pool } from '@toolyard/db/pool'
import type { AttemptHistory, MemoryHistory, RowHistory, TickHistory } from './history.ts'

// What stands in the database, read by statements of its own: what is to be judged must not be read through the code
// that is on trial. Only while nothing changes any more.

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`

const selectRows = `
  select one.id, one.tool, one.topic, one.status, one.gate, one.rerun, one.attempts, one.reward,
    ${ms('one.due_at')} as "dueAtMs", ${ms('one.finished_at')} as "finishedAtMs",
    (select count(*)::integer from invocation_outcomes where id = one.id) as outcomes,
    outcome.result ->> 'text' as "resultText",
    outcome.failure ->> 'kind' as "failureKind",
    outcome.failure ->> 'class' as "failureClass",
    outcome.failure ->> 'message' as "failureMessage"
  from invocations as one left join invocation_outcomes as outcome on outcome.id = one.id
  where one.topic like $1
  order by one.id limit 100000`

const selectAttempts = `
  select try.invocation_id as invocation, try.attempt, try.worker_id as worker, try.end_reason as "endReason",
    ${ms('try.started_at')} as "claimedAtMs", ${ms('try.handed_over_at')} as "handedOverAtMs",
    ${ms('try.ended_at')} as "endedAtMs"
  from attempts as try join invocations as one on one.id = try.invocation_id
  where one.topic like $1
  order by try.invocation_id, try.attempt limit 500000`

const selectMemory = `
  select tool, null as topic, attempts::integer, successes::integer, reward_sum as "rewardSum" from tool_memory
  union all
  select tool, topic, attempts::integer, successes::integer, reward_sum from topic_memory where topic like $1
  limit 10000`

// The rule of rewards in words of its own: 0.3 for a success, -0.2 for what the tool did wrong, nothing for the rest.
const selectCounted = `
  with counts as (
    select one.tool, one.topic, one.status = 'succeeded' as is_success
    from invocations as one left join invocation_outcomes as outcome on outcome.id = one.id
    where one.status = 'succeeded'
      or (one.status in ('failed', 'timed_out') and outcome.failure ->> 'class' = 'internal')
  )
  select tool, case when grouping(topic) = 1 then null else topic end as topic, count(*)::integer as attempts,
    (count(*) filter (where is_success))::integer as successes,
    (0.3 * count(*) filter (where is_success) - 0.2 * count(*) filter (where not is_success))::float8 as "rewardSum"
  from counts
  group by grouping sets ((tool), (tool, topic))
  having grouping(topic) = 1 or topic like $1
  limit 10000`

const selectTicks = `
  select ${ms('tick.tick_at')} as "atMs", tick.fate, tick.invocation_id as invocation, one.final_status as status,
    one.attempts
  from ticks as tick left join invocations as one on one.id = tick.invocation_id
  where tick.tick_at > to_timestamp($1::float8 / 1000)
  order by tick.tick_at limit 10000`

/** Of the calls in these topics, and of the ticks since then. */
export async function readHistory(pool: Pool, topics: string, sinceMs: number) {
  const [rows, attempts, memory, counted, ticks] = await Promise.all([
    pool.query<RowHistory>(selectRows, [topics]),
    pool.query<AttemptHistory>(selectAttempts, [topics]),
    pool.query<MemoryHistory>(selectMemory, [topics]),
    pool.query<MemoryHistory>(selectCounted, [topics]),
    pool.query<TickHistory>(selectTicks, [sinceMs]),
  ])
  return {
    rows: rows.rows,
    attempts: attempts.rows,
    memory: memory.rows,
    counted: counted.rows,
    ticks: ticks.rows,
  }
}
