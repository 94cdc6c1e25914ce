import assert from 'node:assert/strict'
import type { Sql } from '@toolyard/db/pool'
import type { Memory, MemoryRow } from './memory.ts'
import { memoryColumns, toMemory } from './memory.ts'
import type { Budget } from './spend.ts'
import { turn } from './turn.ts'

/** A tool that this transaction has locked: nobody else changes it, or its topics, until it ends. */
export type OpenMemory = {
  readonly tool: string
  memory: Memory
  budget: Budget
  /** Undefined: none was asked for, or it is not known. */
  topic: { readonly name: string; memory: Memory } | undefined
}

// The row is made or locked, and not written: that comes once, at the end. The topic needs no lock of its own, because
// nobody writes it without this one.
const lock = `
  with ${turn}
  insert into tool_memory as one (tool) select $1 from turn
  on conflict (tool) do update set tool = excluded.tool where false`

// Statements of their own, so that they see all that was committed before the lock was given.
const readTool = `
  select ${memoryColumns}, budget_remaining, budget_seen_at, budget_refilled_at, budget_day::text, budget_spent
  from tool_memory where tool = $1`
const readTopic = `select ${memoryColumns} from topic_memory where tool = $1 and topic = $2`

// What outcomes alone move (the counts, recent, latency and the last failure) is theirs to write.
const writeTool = `
  update tool_memory
  set reward_sum = $2, weight = $3, budget_remaining = $4, budget_seen_at = $5, budget_refilled_at = $6,
    budget_day = $7, budget_spent = $8, updated_at = clock_timestamp()
  where tool = $1`
const writeTopic = `
  update topic_memory set reward_sum = $3, weight = $4, updated_at = clock_timestamp()
  where tool = $1 and topic = $2`

type ToolRow = MemoryRow & {
  budget_remaining: number | null
  budget_seen_at: Date | null
  budget_refilled_at: Date | null
  budget_day: string | null
  budget_spent: number
}

/** Locks the tool until the transaction ends, and reads what is known of it. */
export async function openMemory(
  sql: Sql,
  { tool, topic }: { tool: string; topic: string | null },
): Promise<OpenMemory> {
  await sql.query(lock, [tool])
  const { rows } = await sql.query<ToolRow>(readTool, [tool])
  const [row] = rows
  assert.ok(row, 'what was locked is there')
  const inTopic = topic === null ? undefined : (await sql.query<MemoryRow>(readTopic, [tool, topic])).rows[0]
  return {
    tool,
    memory: toMemory(row),
    budget: toBudget(row),
    topic: inTopic && topic !== null ? { name: topic, memory: toMemory(inTopic) } : undefined,
  }
}

/** Writes what became of it, but for what outcomes alone move. */
export async function writeMemory(sql: Sql, { tool, memory, budget, topic }: OpenMemory): Promise<void> {
  await sql.query(writeTool, [
    tool,
    memory.rewardSum,
    memory.weight,
    budget.remaining,
    budget.seenAt,
    budget.refilledAt,
    budget.day,
    budget.spent,
  ])
  if (topic === undefined) return
  await sql.query(writeTopic, [tool, topic.name, topic.memory.rewardSum, topic.memory.weight])
}

const toBudget = (row: ToolRow): Budget => ({
  remaining: row.budget_remaining,
  seenAt: row.budget_seen_at,
  refilledAt: row.budget_refilled_at,
  day: row.budget_day,
  spent: row.budget_spent,
})
