import type { Actor } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import { isToolName } from '@toolyard/contract/keys'
import type { MemoryListShape } from '@toolyard/contract/memory'
import type { PageRequest } from '@toolyard/contract/page'
import { cutPage, readPageRequest } from '@toolyard/contract/page'
import type { Sql } from '@toolyard/db/pool'
import type { ShownRow, TopicRow } from './memory-shape.ts'
import { shownColumns, toOverallShape, toTopicShape } from './memory-shape.ts'

// index: tool_memory_pkey
const selectPage = `
  select tool, ${shownColumns} from tool_memory
  where attempts > 0 and ($1::text[] is null or tool = any($1)) and ($2::text is null or tool > $2)
  order by tool limit $3`

// index: topic_memory_pkey
const selectTopic = `select tool, topic, ${shownColumns} from topic_memory where tool = any($1) and topic = $2`

export type MemoryListRequest = PageRequest & {
  /** Also what is known of each tool in this topic. */
  topic?: string | undefined
}

/** Tools that have outcomes, by name. */
export async function listMemory(
  sql: Sql,
  actor: Actor,
  request: MemoryListRequest = {},
): Promise<MemoryListShape> {
  const { after, limit } = readPageRequest(request, isToolName)
  const { topics, tools } = reachOf(actor)
  const { topic } = request
  if (topic !== undefined && (topic.includes('\0') || (topics !== null && !topics.includes(topic))))
    throw new AppError('not_found', 'There is no such topic')
  const found = await sql.query<Row>(selectPage, [tools, after, limit + 1])
  const { page, nextCursor } = cutPage(found.rows, limit, ({ tool }) => tool)
  const inTopic = topic === undefined ? undefined : await readTopic(sql, page, topic)
  return {
    memory: page.map((row) => {
      const overall = toOverallShape(actor, row)
      const { tool } = row
      return inTopic === undefined ? { tool, overall } : { tool, overall, topic: inTopic.get(tool) ?? null }
    }),
    next_cursor: nextCursor,
  }
}

type Row = ShownRow & { tool: string }

async function readTopic(sql: Sql, page: readonly Row[], topic: string) {
  const found = await sql.query<TopicRow & { tool: string }>(selectTopic, [
    page.map(({ tool }) => tool),
    topic,
  ])
  return new Map(found.rows.map((row) => [row.tool, toTopicShape(row)]))
}
