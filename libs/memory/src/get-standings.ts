import type { Actor } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { Standing, Standings } from './rank.ts'

// All tools are read once for the mean: as many rows as there ever were tools, and without their latencies.
const selectMean = prepared(`select avg(weight) as mean_weight from tool_memory where attempts > 0`)

// indexes: tool_memory_pkey, topic_memory_pkey; at most two rows a tool
const selectStandings = prepared(`
  select tool, false as in_topic, weight, recent, attempts::double precision as attempts
  from tool_memory where tool = any($1) and attempts > 0
  union all
  select tool, true, weight, recent, attempts::double precision
  from topic_memory where tool = any($1) and topic = $2`)

type Row = Required<Standing> & { tool: string; in_topic: boolean }

/**
 * For ranking these tools, for a caller of this topic. A key bound to topics goes by a tool's weight alone where its topic
 * knows nothing of it: what it is told would show the rest.
 */
export async function getStandings(
  sql: Sql,
  actor: Actor,
  { tools, topic }: { tools: readonly string[]; topic: string },
): Promise<Standings> {
  const [mean, found] = await Promise.all([
    sql.query<{ mean_weight: number | null }>(selectMean([])),
    sql.query<Row>(selectStandings([tools, topic])),
  ])
  const isBound = reachOf(actor).topics !== null
  const overall = new Map<string, Standing>()
  const inTopic = new Map<string, Standing>()
  for (const { tool, in_topic, ...standing } of found.rows) {
    if (in_topic) inTopic.set(tool, standing)
    else overall.set(tool, isBound ? { weight: standing.weight, recent: 1 } : standing)
  }
  return { meanWeight: mean.rows[0]?.mean_weight ?? null, overall, inTopic }
}
