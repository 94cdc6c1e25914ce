import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { CreatedPrompt, NewPrompt } from './prompt.ts'
import { isFree, priorities, toCreated } from './prompt.ts'

/** Of one tool. An agent that does not come finds the news, and not all that was ever news. */
const waitingMax = 5

// index: prompts_pkey
const insert = prepared(`
  insert into prompts (id, tool, invocation_id, tick_at, priority, text)
  select id, tool, invocation_id, tick_at, priority, text
  from json_to_recordset($1::json)
    as one (id text, tool text, invocation_id text, tick_at timestamptz, priority smallint, text text)`)

// The least important go first, and of those the oldest. Judged again where a claim was just being committed.
// index: prompts_open_by_tool
const supersede = prepared(`
  with excess as materialized (
    select id from (
      select id, row_number() over (partition by tool order by priority, created_at desc, id desc) as place
      from prompts where tool = any($1) and ${isFree}
    ) as waiting
    where place > ${waitingMax}
  )
  update prompts set status = 'superseded', ended_at = clock_timestamp()
  where id = any(array(select id from excess)) and ${isFree}
  returning id, tool`)

export type WrittenPrompts = {
  created: CreatedPrompt[]
  /** How many of each tool gave way. */
  superseded: Map<string, number>
}

/** In the transaction that closes the invocations that they are of, under the locks of their schedules. */
export async function writePrompts(sql: Sql, prompts: readonly NewPrompt[]): Promise<WrittenPrompts> {
  if (prompts.length === 0) return { created: [], superseded: new Map() }
  const rows = prompts.map((one) => ({
    id: one.id,
    tool: one.tool,
    invocation_id: one.invocationId,
    tick_at: one.tickAt,
    priority: priorities.indexOf(one.priority),
    text: one.text,
  }))
  const tools = [...new Set(prompts.map(({ tool }) => tool))]
  const [, gone] = await Promise.all([
    sql.query(insert([JSON.stringify(rows)])),
    sql.query<{ id: string; tool: string }>(supersede([tools])),
  ])
  const goneIds = new Set(gone.rows.map(({ id }) => id))
  const superseded = new Map<string, number>()
  for (const { tool } of gone.rows) superseded.set(tool, (superseded.get(tool) ?? 0) + 1)
  return { created: prompts.filter(({ id }) => !goneIds.has(id)).map(toCreated), superseded }
}
