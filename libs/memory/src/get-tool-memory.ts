import type { Actor } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { ToolMemoryShape } from '@toolyard/contract/memory'
import type { Sql } from '@toolyard/db/pool'
import type { ShownRow, TopicRow } from './memory-shape.ts'
import { shownColumns, toOverallShape, toTopicShape } from './memory-shape.ts'

// index: tool_memory_pkey
const selectOverall = `select ${shownColumns} from tool_memory where tool = $1`

// index: topic_memory_pkey; of an unbound key it reads all topics of the tool
const selectTopics = `
  select topic, ${shownColumns} from topic_memory
  where tool = $1 and ($2::text[] is null or topic = any($2))
  order by updated_at desc, topic
  limit $3`

const topicsMax = 200

/** Whether there is such a tool is the catalog's to say: one that was never called has the memory of a new one. */
export async function getToolMemory(sql: Sql, actor: Actor, tool: string): Promise<ToolMemoryShape> {
  const { topics, tools } = reachOf(actor)
  // A text that Postgres could not compare with names nothing.
  if (tool.includes('\0') || (tools !== null && !tools.includes(tool)))
    throw new AppError('not_found', 'There is no such tool')
  const overall = await sql.query<ShownRow>(selectOverall, [tool])
  const found = await sql.query<TopicRow>(selectTopics, [tool, topics, topicsMax + 1])
  return {
    tool,
    overall: toOverallShape(actor, overall.rows[0]),
    topics: found.rows.slice(0, topicsMax).map(toTopicShape),
    truncated: found.rows.length > topicsMax,
  }
}
