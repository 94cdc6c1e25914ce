import type { Actor } from '@toolyard/access/actor'
import type { PageRequest } from '@toolyard/contract/page'
import { cutPage, readPageRequest } from '@toolyard/contract/page'
import type { Sql } from '@toolyard/db/pool'
import { seenAmong } from '../schedules/seen-tools.ts'
import type { Prompt, PromptRow } from './prompt.ts'
import { isFree, isPromptId, promptColumns, toPrompt } from './prompt.ts'

export type PromptListRequest = PageRequest & {
  tool?: string | undefined
  status?: Prompt['status'] | undefined
}

export type PromptPage = { prompts: Prompt[]; nextCursor: string | null }

const statuses: Record<Prompt['status'], string> = {
  waiting: isFree,
  claimed: `ended_at is null and status = 'claimed' and lease_until > statement_timestamp()`,
  acked: `ended_at is not null and status = 'acked'`,
  superseded: `ended_at is not null and status = 'superseded'`,
}

// $1 tools, $2 cursor, $3 limit
const page = (from: string, condition: string) =>
  `select id from ${from} where ${condition} and ($2::text is null or id < $2) order by id desc limit $3`

const paths = {
  // indexes: prompts_pkey, or prompts_ended
  all: (condition: string) => page('prompts', condition),
  // One walk down an index for each tool, so that no page costs more than its rows: tools x limit, then the newest.
  // indexes: prompts_by_tool, or prompts_ended_by_tool
  tools: (condition: string) => `
    select found.id from unnest($1::text[]) as wanted (tool)
    cross join lateral (${page('prompts', `prompts.tool = wanted.tool and ${condition}`)}) as found
    order by found.id desc limit $3`,
  // indexes: prompts_open, prompts_open_by_tool. They are few: so many of each tool.
  open: (condition: string) => page('prompts', `($1::text[] is null or tool = any($1)) and ${condition}`),
}

/** Newest first, only what the actor may see. */
export async function listPrompts(
  sql: Sql,
  actor: Actor,
  request: PromptListRequest = {},
): Promise<PromptPage> {
  const { after, limit } = readPageRequest(request, isPromptId)
  const { status } = request
  const tools = seenAmong(actor, request.tool)
  if (tools?.length === 0) return { prompts: [], nextCursor: null }
  const isOpen = status === 'waiting' || status === 'claimed'
  const path = isOpen ? paths.open : tools === null ? paths.all : paths.tools
  const condition = status === undefined ? 'true' : statuses[status]
  const { rows } = await sql.query<PromptRow>(
    `select ${promptColumns} from prompts
     where id = any(array(${path(condition)})) and ($1::text[] is null or tool = any($1))
     order by id desc`,
    [tools, after, limit + 1],
  )
  const shown = cutPage(rows, limit, ({ id }) => id)
  return { prompts: shown.page.map(toPrompt), nextCursor: shown.nextCursor }
}
