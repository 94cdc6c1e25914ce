import type { Actor } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { MemoryListShape } from '@toolyard/contract/memory'
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

export type MemoryListRequest = {
  /** Also what is known of each tool in this topic. */
  topic?: string | undefined
  cursor?: string | undefined
  limit?: number | undefined
}

const limitDefault = 50
const limitMax = 200

/** Tools that have outcomes, by name. */
export async function listMemory(
  sql: Sql,
  actor: Actor,
  request: MemoryListRequest = {},
): Promise<MemoryListShape> {
  const limit = readLimit(request)
  const { topics, tools } = reachOf(actor)
  const { topic } = request
  if (topic !== undefined && (topic.includes('\0') || (topics !== null && !topics.includes(topic))))
    throw new AppError('not_found', 'There is no such topic')
  const found = await sql.query<Row>(selectPage, [tools, request.cursor ?? null, limit + 1])
  const page = found.rows.slice(0, limit)
  const inTopic = topic === undefined ? undefined : await readTopic(sql, page, topic)
  return {
    memory: page.map((row) => ({
      tool: row.tool,
      overall: toOverallShape(actor, row),
      ...(inTopic && { topic: inTopic.get(row.tool) ?? null }),
    })),
    next_cursor: found.rows.length > limit ? (page.at(-1)?.tool ?? null) : null,
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

function readLimit({ limit = limitDefault, cursor }: MemoryListRequest): number {
  const faults = []
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    faults.push({ pointer: '/limit', detail: `must be a whole number from 1 to ${limitMax}` })
  // A cursor is the name of the last tool of the page before.
  if (cursor !== undefined && !/^[a-z][a-z0-9_-]{0,63}$/.test(cursor))
    faults.push({ pointer: '/cursor', detail: 'must be the next_cursor of the page before' })
  if (faults.length > 0) throw new AppError('invalid_request', 'The request has faults', { faults })
  return limit
}
