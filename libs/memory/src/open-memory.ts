import assert from 'node:assert/strict'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { Memory, MemoryRow } from './memory.ts'
import { memoryColumns, toMemory } from './memory.ts'
import type { Budget } from './spend.ts'
import { turn } from './turn.ts'

/** A tool that this transaction has locked: nobody else changes it, or its topics, until it ends. */
export type OpenMemory = {
  readonly tool: string
  memory: Memory
  budget: Budget
  /** Of the topics that were asked for those that are known. */
  readonly topics: Map<string, Memory>
}

// The row is made or locked, and not written: that comes once, at the end. The topics need no lock of their own, because
// nobody writes them without this one.
const lock = prepared(`
  with ${turn}
  insert into tool_memory as one (tool) select $1 from turn
  on conflict (tool) do update set tool = excluded.tool where false`)

// A statement of its own, so that it sees all that was committed before the lock was given.
// indexes: tool_memory_pkey, topic_memory_pkey
const read = prepared(`
  select null as topic, ${memoryColumns},
    budget_remaining, budget_seen_at, budget_refilled_at, budget_day::text, budget_spent
  from tool_memory where tool = $1
  union all
  select topic, ${memoryColumns}, null, null, null, null, null
  from topic_memory where tool = $1 and topic = any($2::text[])`)

const write = prepared(`
  with overall as (
    update tool_memory
    set attempts = $2, successes = $3, reward_sum = $4, weight = $5, recent = $6, latency = $7::integer[],
      last_failure_kind = $8, last_failure_at = $9, budget_remaining = $10, budget_seen_at = $11,
      budget_refilled_at = $12, budget_day = $13, budget_spent = $14, updated_at = clock_timestamp()
    where tool = $1
  )
  insert into topic_memory (tool, topic, attempts, successes, reward_sum, weight, recent, latency,
    last_failure_kind, last_failure_at)
  select $1, topic, attempts, successes, reward_sum, weight, recent, latency::integer[], failure_kind, failure_at
  from unnest($15::text[], $16::bigint[], $17::bigint[], $18::double precision[], $19::double precision[],
    $20::double precision[], $21::text[], $22::text[], $23::timestamptz[])
    as known (topic, attempts, successes, reward_sum, weight, recent, latency, failure_kind, failure_at)
  on conflict (tool, topic) do update
  set attempts = excluded.attempts, successes = excluded.successes, reward_sum = excluded.reward_sum,
    weight = excluded.weight, recent = excluded.recent, latency = excluded.latency,
    last_failure_kind = excluded.last_failure_kind, last_failure_at = excluded.last_failure_at,
    updated_at = clock_timestamp()`)

type Row = MemoryRow & {
  /** Null: of the tool itself. */
  topic: string | null
  budget_remaining: number | null
  budget_seen_at: Date | null
  budget_refilled_at: Date | null
  budget_day: string | null
  budget_spent: number
}

/** Locks the tool until the transaction ends, and reads what is known of it. */
export async function openMemory(
  sql: Sql,
  tool: string,
  topics: readonly string[] = [],
): Promise<OpenMemory> {
  const [, { rows }] = await Promise.all([sql.query(lock([tool])), sql.query<Row>(read([tool, topics]))])
  const overall = rows.find((row) => row.topic === null)
  assert.ok(overall, 'what was locked is there')
  return {
    tool,
    memory: toMemory(overall),
    budget: toBudget(overall),
    topics: new Map(rows.flatMap((row) => (row.topic === null ? [] : [[row.topic, toMemory(row)]]))),
  }
}

/** Writes what became of it and of its topics. */
export async function writeMemory(sql: Sql, { tool, memory, budget, topics }: OpenMemory): Promise<void> {
  const known = [...topics.values()]
  await sql.query(
    write([
      tool,
      ...columnsOf(memory),
      budget.remaining,
      budget.seenAt,
      budget.refilledAt,
      budget.day,
      budget.spent,
      [...topics.keys()],
      // one array for each column
      ...columnsOf(memory).map((_, column) => known.map((one) => columnsOf(one)[column])),
    ]),
  )
}

const columnsOf = ({ attempts, successes, rewardSum, weight, recent, latency, lastFailure }: Memory) => [
  attempts,
  successes,
  rewardSum,
  weight,
  recent,
  `{${latency.join(',')}}`,
  lastFailure?.kind ?? null,
  lastFailure?.at ?? null,
]

const toBudget = (row: Row): Budget => ({
  remaining: row.budget_remaining,
  seenAt: row.budget_seen_at,
  refilledAt: row.budget_refilled_at,
  day: row.budget_day,
  spent: row.budget_spent,
})
