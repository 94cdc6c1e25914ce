import type { Actor } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import type { Invocation, InvocationRow, InvocationStatus } from './invocation.ts'
import { isFinal, toInvocation } from './invocation.ts'
import { invocationColumns, invocationJoins } from './read-invocations.ts'
import { isInvocationId } from './visible.ts'

export type ListRequest = {
  tool?: string | undefined
  topic?: string | undefined
  status?: InvocationStatus | undefined
  cursor?: string | undefined
  limit?: number | undefined
}

export type InvocationPage = { invocations: Invocation[]; nextCursor: string | null }

const limitDefault = 50
const limitMax = 200

// $1 topics, $2 tools, $3 status, $4 cursor, $5 limit
const isWanted = `
  ($1::text[] is null or topic = any($1)) and ($2::text[] is null or tool = any($2))
  and ($3::text is null or status = $3) and ($4::text is null or id < $4)`

// One walk down an index for each name, so that no page costs more than its rows: names x limit, then the newest.
const eachName = (column: 'topic' | 'tool', names: '$1' | '$2') => `
  select found.id
  from unnest(${names}::text[]) as wanted (name)
  cross join lateral (
    select id from invocations
    where ${column} = wanted.name and ${isWanted} order by id desc limit $5
  ) as found
  order by found.id desc limit $5`

const paths = {
  // index: invocations_by_topic
  topics: eachName('topic', '$1'),
  // index: invocations_by_tool
  tools: eachName('tool', '$2'),
  // index: invocations_by_outcome
  outcome: `
    select id from invocations
    where gate = 'closed' and final_status = $3 and ${isWanted} order by id desc limit $5`,
  // index: invocations_waiting: at most as many as may wait
  unfinished: `select id from invocations where gate <> 'closed' and ${isWanted} order by id desc limit $5`,
  // index: invocations_pkey
  all: `select id from invocations where ${isWanted} order by id desc limit $5`,
} as const

const select = (path: keyof typeof paths) => `
  with page as materialized (${paths[path]})
  select ${invocationColumns}
  from page join invocations as one on one.id = page.id ${invocationJoins}
  order by one.id desc`

/** Newest first, only what the actor may see, without results: those are read one by one. */
export async function listInvocations(
  sql: Sql,
  actor: Actor,
  request: ListRequest = {},
): Promise<InvocationPage> {
  const limit = readLimit(request)
  const reach = reachOf(actor)
  const topics = narrow(reach.topics, request.topic)
  const tools = narrow(reach.tools, request.tool)
  if (topics?.length === 0 || tools?.length === 0) return { invocations: [], nextCursor: null }
  const path = choosePath(topics, tools, request.status)
  const values = [topics, tools, request.status ?? null, request.cursor ?? null, limit + 1]
  const { rows } = await sql.query<InvocationRow>(select(path), values)
  const page = rows.slice(0, limit)
  return {
    invocations: page.map(toInvocation),
    nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  }
}

function choosePath(
  topics: readonly string[] | null,
  tools: readonly string[] | null,
  status: InvocationStatus | undefined,
): keyof typeof paths {
  // However many finished rows a topic has, those that are not are few.
  if (status !== undefined && !isFinal(status)) return 'unfinished'
  if (topics !== null) return 'topics'
  if (tools !== null) return 'tools'
  return status === undefined ? 'all' : 'outcome'
}

/** What is asked for, of what is allowed. Null: everything. */
function narrow(allowed: readonly string[] | null, named: string | undefined): readonly string[] | null {
  if (named === undefined) return allowed
  // A text that Postgres could not compare with names nothing.
  if (named.includes('\0')) return []
  return allowed === null || allowed.includes(named) ? [named] : []
}

function readLimit({ limit = limitDefault, cursor }: ListRequest): number {
  const faults = []
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    faults.push({ pointer: '/limit', detail: `must be a whole number from 1 to ${limitMax}` })
  // A cursor is the id of the last row of the page before.
  if (cursor !== undefined && !isInvocationId(cursor))
    faults.push({ pointer: '/cursor', detail: 'must be the next_cursor of the page before' })
  if (faults.length > 0) throw new AppError('invalid_request', 'The request has faults', { faults })
  return limit
}
