import type { Sql } from '@toolyard/db/pool'
import type { Standing, Standings } from './rank.ts'

// All tools are read once for the mean: as many rows as there ever were tools, and without their latencies.
const selectMean = `select avg(weight) as mean_weight from tool_memory where attempts > 0`

// indexes: tool_memory_pkey, topic_memory_pkey; at most two rows a tool
const selectStandings = `
  select tool, false as in_topic, weight, recent from tool_memory where tool = any($1) and attempts > 0
  union all
  select tool, true, weight, recent from topic_memory where tool = any($1) and topic = $2`

/** For ranking these tools, for a caller of this topic. */
export async function getStandings(
  sql: Sql,
  { tools, topic }: { tools: readonly string[]; topic: string | null },
): Promise<Standings> {
  const mean = await sql.query<{ mean_weight: number | null }>(selectMean)
  const found = await sql.query<Standing & { tool: string; in_topic: boolean }>(selectStandings, [
    tools,
    topic,
  ])
  const standingsOf = (isInTopic: boolean) =>
    new Map(
      found.rows
        .filter((row) => row.in_topic === isInTopic)
        .map(({ tool, weight, recent }) => [tool, { weight, recent }]),
    )
  return {
    meanWeight: mean.rows[0]?.mean_weight ?? null,
    overall: standingsOf(false),
    inTopic: standingsOf(true),
  }
}
