import type { Actor } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import type { PageRequest } from '@toolyard/contract/page'
import { cutPage, readPageRequest } from '@toolyard/contract/page'
import type { Sql } from '@toolyard/db/pool'
import type { InvocationStatus } from '@toolyard/contract/invocations'
import type { Invocation, InvocationRow } from './invocation.ts'
import { finalStatuses, isFinal } from '@toolyard/contract/invocations'
import { toInvocation } from './invocation.ts'
import { invocationColumns, invocationJoins } from './read-invocations.ts'
import { isInvocationId } from './visible.ts'

export type ListRequest = PageRequest & {
  tool?: string | undefined
  topic?: string | undefined
  status?: InvocationStatus | undefined
}

export type InvocationPage = { invocations: Invocation[]; nextCursor: string | null }

// sorts behind every id
const beyondIds = '~'

// $1 cursor, $2 limit
const page = 'id < $1 order by id desc limit $2'

// One walk down an index for each name and end, so that no page costs more than its rows: names x ends x limit, then the
// newest. `wanted` gives the names and the ends; `status` tells those apart that have not ended, of which there are few.
const walkEach = (wanted: string, names: string, status: string) => `
  select found.id
  from (select * from ${wanted}) as wanted
  cross join lateral (
    select id from invocations
    where ${names} and coalesce(final_status, 'unfinished') = wanted.ended
      and (${status}::text is null or status = ${status}) and ${page}
  ) as found
  order by found.id desc limit $2`

const paths = {
  // index: invocations_by_both
  both: walkEach(
    'unnest($3::text[]) as topic, unnest($4::text[]) as tool, unnest($5::text[]) as ended',
    'topic = wanted.topic and tool = wanted.tool',
    '$6',
  ),
  // index: invocations_by_topic
  topics: walkEach('unnest($3::text[]) as topic, unnest($4::text[]) as ended', 'topic = wanted.topic', '$5'),
  // index: invocations_by_tool
  tools: walkEach('unnest($3::text[]) as tool, unnest($4::text[]) as ended', 'tool = wanted.tool', '$5'),
  // index: invocations_by_outcome
  outcome: `select id from invocations where gate = 'closed' and final_status = $3 and ${page}`,
  // index: invocations_unfinished: at most as many as may wait
  unfinished: `select id from invocations where coalesce(final_status, 'unfinished') = 'unfinished' and status = $3 and ${page}`,
  // index: invocations_pkey
  all: `select id from invocations where ${page}`,
} as const

// An array of ids and not a join: a plan for any limit would read the whole table for a join.
const select = (path: keyof typeof paths) => `
  select ${invocationColumns}
  from invocations as one ${invocationJoins}
  where one.id = any(array(${paths[path]}))
  order by one.id desc`

/** Newest first, only what the actor may see, without results: those are read one by one. */
export async function listInvocations(
  sql: Sql,
  actor: Actor,
  request: ListRequest = {},
): Promise<InvocationPage> {
  const { after, limit } = readPageRequest(request, isInvocationId)
  const reach = reachOf(actor)
  const topics = narrow(reach.topics, request.topic)
  const tools = narrow(reach.tools, request.tool)
  if (topics?.length === 0 || tools?.length === 0) return { invocations: [], nextCursor: null }
  const { path, values } = choosePath(topics, tools, request.status)
  const { rows } = await sql.query<InvocationRow>(select(path), [after ?? beyondIds, limit + 1, ...values])
  const shown = cutPage(rows, limit, ({ id }) => id)
  return { invocations: shown.page.map(toInvocation), nextCursor: shown.nextCursor }
}

function choosePath(
  topics: readonly string[] | null,
  tools: readonly string[] | null,
  status: InvocationStatus | undefined,
): { path: keyof typeof paths; values: unknown[] } {
  const isUnfinished = status !== undefined && !isFinal(status)
  const ends =
    status === undefined ? [...finalStatuses, 'unfinished'] : [isUnfinished ? 'unfinished' : status]
  const rest = [ends, isUnfinished ? status : null]
  if (topics !== null && tools !== null) return { path: 'both', values: [topics, tools, ...rest] }
  if (topics !== null) return { path: 'topics', values: [topics, ...rest] }
  if (tools !== null) return { path: 'tools', values: [tools, ...rest] }
  if (status === undefined) return { path: 'all', values: [] }
  return { path: isUnfinished ? 'unfinished' : 'outcome', values: [status] }
}

/** What is asked for, of what is allowed. Null: everything. */
function narrow(allowed: readonly string[] | null, named: string | undefined): readonly string[] | null {
  if (named === undefined) return allowed
  // A text that Postgres could not compare with names nothing.
  if (named.includes('\0')) return []
  return allowed === null || allowed.includes(named) ? [named] : []
}
